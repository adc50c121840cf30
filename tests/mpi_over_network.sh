#!/usr/bin/env bash
# Training by ranks that have a network between them: each in a network namespace and with a host name of its own,
# joined by a bridge. Needs root and ip netns. Without a command it trains with 1, 2 and 4 ranks and compares losses.
#   tests/mpi_over_network.sh [--ranks N] [--rate 100mbit] [--delay 1ms] [COMMAND...]
# COMMAND runs on each of N ranks (2 unless given), over links of that speed and with that delay.
set -euo pipefail
root=$(cd -P -- "${BASH_SOURCE[0]%/*}/.." && pwd)
program=${TRIL_PROGRAM:-$root/build/release/tril}
ranks=2 rate='' delay=''
while (($#)); do
  case $1 in
    --ranks) ranks=$2 && shift 2 ;;
    --rate) rate=$2 && shift 2 ;;
    --delay) delay=$2 && shift 2 ;;
    *) break ;;
  esac
done

command -v mpirun >/dev/null || { echo "no mpirun" && exit 77; }
name=tril$$
ip netns add "$name" 2>/dev/null || { echo "network namespaces are not allowed here" && exit 77; }
ip netns del "$name"
folder=$(mktemp -d)
hosts=()
clean() {
  local host
  for host in "${hosts[@]}"; do ip netns del "$host" 2>/dev/null || true; done
  ip netns del "$name" 2>/dev/null || true
  rm -rf "$folder"
}
trap clean EXIT

# lay COUNT: as many namespaces on one bridge, which lies in a namespace of its own.
lay() {
  local i host
  ip netns add "$name"
  ip -n "$name" link add bridge type bridge
  ip -n "$name" link set bridge up
  for ((i = 1; i <= $1; ++i)); do
    host=$name-$i
    ip netns add "$host"
    hosts+=("$host")
    ip link add eth0 netns "$host" type veth peer name "to$i" netns "$name"
    ip -n "$name" link set "to$i" master bridge up
    ip -n "$host" addr add "10.213.0.$i/24" dev eth0
    ip -n "$host" link set lo up
    ip -n "$host" link set eth0 up
    if [[ -n $rate ]]; then
      tc -n "$host" qdisc add dev eth0 root handle 1: tbf rate "$rate" burst 64kb latency 400ms
      [[ -z $delay ]] || tc -n "$host" qdisc add dev eth0 parent 1: netem delay "$delay"
    elif [[ -n $delay ]]; then
      tc -n "$host" qdisc add dev eth0 root netem delay "$delay"
    fi
  done
}

# What mpirun calls in place of ssh: AGENT ADDRESS COMMAND...
cat >"$folder/agent" <<END
#!/usr/bin/env bash
host=$name-\${1##*.}
shift
exec ip netns exec "\$host" unshare --uts sh -c "hostname \$host; \$*"
END
chmod +x "$folder/agent"

# over COUNT COMMAND...: one rank on each of the first hosts.
over() {
  local count=$1 i list=''
  shift
  for ((i = 1; i <= count; ++i)); do list+=${list:+,}10.213.0.$i:1; done
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    ip netns exec "$name-1" unshare --uts sh -c "hostname $name-1; exec \"\$@\"" sh \
    mpirun -n "$count" --host "$list" --mca plm_rsh_agent "$folder/agent" --bind-to none \
    --mca btl tcp,self --mca btl_tcp_if_include 10.213.0.0/24 --mca oob_tcp_if_include 10.213.0.0/24 "$@"
}

if (($#)); then
  lay "$ranks"
  over "$ranks" "$@"
  exit
fi

lay 4
cd "$folder"
for count in 1 2 4; do
  over "$count" "$program" train one-head-smoke --steps 20 --set train.log_every=1 --threads 1 --out "run$count" --quiet \
    >/dev/null
  sed 's/.*"train_batch_loss":\([^,]*\),.*/\1/' "run$count/metrics.jsonl" >"losses$count"
done
for count in 2 4; do
  paste losses1 "losses$count" | awk -v n="$count" '
    { d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d }
    END { printf "%d ranks: %d steps, losses differ by %g at most\n", n, NR, most; exit !(NR == 20 && most <= 1e-5) }'
done
