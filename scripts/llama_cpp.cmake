# Read by llama.cpp's own CMakeLists.txt while scripts/setup_peers.sh builds llama-cpp-python: leaves out the library
# for its programs' command lines, which the Python package turns on and never loads, and which is half of the build.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "" FORCE)
