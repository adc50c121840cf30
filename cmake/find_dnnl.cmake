# oneDNN by its header and its library, as the target tril::dnnl; no target where it is not installed.
# Its own package file is left alone: Debian's asks for OpenCL's headers, which nothing here needs.
find_path(TRIL_DNNL_INCLUDE dnnl.h)
find_library(TRIL_DNNL_LIBRARY dnnl)
mark_as_advanced(TRIL_DNNL_INCLUDE TRIL_DNNL_LIBRARY)
if(TRIL_DNNL_INCLUDE AND TRIL_DNNL_LIBRARY AND NOT TARGET tril::dnnl)
  add_library(tril::dnnl UNKNOWN IMPORTED)
  set_target_properties(tril::dnnl PROPERTIES
    IMPORTED_LOCATION "${TRIL_DNNL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${TRIL_DNNL_INCLUDE}")
endif()
