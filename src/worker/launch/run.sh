#!/bin/sh
# Runs one attempt of a run in a folder of its own, at most once, and leaves word of how it ended. The same file lies in
# the run's folder, under every launcher, and is what a launcher sends to a shell of the target:
#
#   run.sh run ATTEMPT COMMAND...    run the command; ATTEMPT is the attempt's folder, beside this file
#   run.sh begin ATTEMPT COMMAND...  the same in the background, in a session of its own; returns once it has begun
#   run.sh look ATTEMPT OUT ERR MAX  what the folder says, and the output from two offsets ("tail": its end), MAX bytes each
#   run.sh stop ATTEMPT              ask for an end after the step
#   run.sh cancel ATTEMPT            end it now
#
# In ATTEMPT: claim ("PID START HOST TIME JOB" of the script that runs it), pid ("PID START" of the command), beat (the
# time, every 5 s), stop and cancel (what was asked for), stdout.jsonl, stderr.log, exit ("CODE TIME").

# Start time of a living process, which tells it from a later one with its id; nothing for one that is gone.
started() (
  if [ -d /proc/self ]; then
    { read -r line < "/proc/$1/stat"; } 2> /dev/null || exit 0
    set -- ${line##*) }
    case $1 in Z | X) ;; *) echo "${20}" ;; esac
  else
    LC_ALL=C TZ=UTC0 ps -o lstart= -p "$1" | tr -s ' ' '_'
  fi
)

lives() { [ -n "$2" ] && [ "$(started "$1")" = "$2" ]; }

# `gcopd train` ends after its step at the first SIGTERM and at once at the second: however many ask, one is sent.
# This and `now` are subshells: they run in traps, and in dash a trap inside a trap changes the status that `&&` sees.
patient() ( mkdir told 2> /dev/null && kill -TERM "$1" )

now() (
  n=0
  while lives "$1" "$2"; do
    case $n in 0 | 1) kill -TERM "$1" ;; 12) kill -KILL "$1" ;; esac
    n=$((n + 1))
    sleep 1
  done
)

leave() {
  echo "$1 $(date +%s)" > exit.tmp && mv exit.tmp exit
  exit "$1"
}

run() {
  self=$(cd "$(dirname "$0")" && pwd)/run.sh
  mkdir -p "$1" && cd "$1" || exit 72
  shift
  C= asked=
  trap 'caught=1; asked=now; [ -z "$C" ] || now "$C" "$S"' TERM INT HUP
  trap 'caught=1; [ -n "$asked" ] || asked=patient; [ -z "$C" ] || patient "$C"' USR1
  # A link is made once, with its content, on a file system that several hosts share too.
  mine=claim.$(hostname).$$
  echo "$$ $(started $$) $(hostname) $(date +%s) ${SLURM_JOB_ID:--}" > "$mine" || exit 72
  # Over NFS it may fail although it was made: the answer was lost, and the second try found the link.
  ln "$mine" claim 2> /dev/null || [ "$(cat "$mine")" = "$(cat claim 2> /dev/null)" ]
  linked=$?
  rm -f "$mine"
  if [ $linked != 0 ]; then
    [ -e claim ] || { echo "no hard link can be made in $PWD" >&2; exit 72; }
    echo "this attempt has begun already" >&2
    exit 73
  fi
  if [ -e stop ] || [ -e cancel ] || [ -n "$asked" ]; then leave 143; fi
  sh "$self" command "$@" >> stdout.jsonl 2>> stderr.log < /dev/null &
  C=$! S=$(started $!)
  case $asked in now) now "$C" "$S" ;; patient) patient "$C" ;; esac
  (
    trap 'kill $s 2> /dev/null; exit' TERM
    while lives "$C" "$S"; do
      date +%s > beat.tmp && mv beat.tmp beat
      if [ -e cancel ]; then now "$C" "$S"; elif [ -e stop ]; then patient "$C"; fi
      sleep 5 &
      s=$!
      wait $s
    done
  ) &
  beating=$! code=
  # A signal ends `wait` early; the command's own code comes from the one that no signal ended.
  while :; do
    caught=
    wait "$C"
    got=$?
    [ "$got" = 127 ] && [ -n "$code" ] || code=$got
    [ -z "$caught" ] && break
  done
  kill $beating 2> /dev/null
  leave "$code"
}

# The command writes who it is before it begins: nothing runs that cannot be found again.
command_of_run() {
  echo "$$ $(started $$)" > pid.tmp && mv pid.tmp pid && exec "$@"
}

begin() {
  mkdir -p "$1" || exit 72
  [ -e "$1/claim" ] && { echo again; exit 0; }
  session=
  command -v setsid > /dev/null 2>&1 && session=setsid
  $session nohup sh "${1%/*}/run.sh" run "$@" > "$1/launch.log" 2>&1 < /dev/null &
  while [ ! -e "$1/claim" ] && [ -n "$(started $!)" ]; do sleep 0.05 2> /dev/null || sleep 1; done
  [ -e "$1/claim" ] || { cat "$1/launch.log" >&2; exit 72; }
}

# Sets what `claim` and `pid` say; false before the run has begun.
read_folder() {
  c= cs=
  { read -r w ws host at _ < claim; } 2> /dev/null || return 1
  { read -r c cs < pid; } 2> /dev/null
  return 0
}

# Seconds since the last beat, or the claim. Both times are those of the file system, by a file that is written now: the
# clocks of two hosts may differ. Those count only where no file can be written, or its time cannot be read.
silence() (
  last=beat
  [ -e beat ] || last=claim
  mine=.look.$(hostname).$$
  # In a subshell: a redirection of `:` that fails ends the shell.
  ( : > "$mine" ) 2> /dev/null
  written=$(date -r "$mine" +%s 2> /dev/null) before=$(date -r "$last" +%s 2> /dev/null)
  rm -f "$mine"
  if [ -n "$written" ] && [ -n "$before" ]; then
    echo $((written - before))
  else
    echo $(($(date +%s) - $(cat beat 2> /dev/null || echo "$at")))
  fi
)

# How much of a file to print, from `from`: sets `from`, `size` and `part`.
extent() {
  size=$(wc -c 2> /dev/null < "$1" || echo 0)
  size=$((size))
  from=$2
  if [ "$from" = tail ]; then from=$((size > $3 ? size - $3 : 0)); fi
  part=$((size > from ? size - from : 0))
  [ $part -gt "$3" ] && part=$3
}

look() {
  echo "gcopd-answer"
  latest=$(ls "${1%/*}" 2> /dev/null | sed -n 's/^attempt-\([0-9]\{1,6\}\)$/\1/p' | sort -n | tail -n 1)
  echo "latest ${latest:-0}"
  echo "now $(date +%s)"
  if ! cd "$1" 2> /dev/null; then
    # What is there and cannot be read now is not a run that never began.
    why=$(LC_ALL=C ls -d "$1/." 2>&1 > /dev/null)
    case $why in *"No such file"*) ;; *) echo "${why:-$1 cannot be entered}" >&2; exit 72 ;; esac
    printf 'state none\nstdout 0 0 0\nstderr 0 0 0\n\n'
    return
  fi
  # A network file system may show an old folder until it is listed. A file may vanish during the listing.
  ls > /dev/null 2>&1 || ls > /dev/null || exit 72
  if [ -e cancel ]; then echo "asked cancel"; elif [ -e stop ]; then echo "asked stop"; fi
  if ! read_folder; then
    [ ! -e claim ] || cat claim > /dev/null || exit 72
    echo "state none"
  else
    echo "begun $at"
    printed=$(date -r stdout.jsonl +%s 2> /dev/null) && echo "printed $printed"
    if [ -e exit ]; then
      echo "state exit $(cat exit)"
    elif [ "$host" != "$(hostname)" ]; then
      echo "state elsewhere $(silence)"
    elif lives "$w" "$ws" || lives "$c" "$cs"; then
      echo "state alive"
    # It may have ended between two questions.
    elif [ -e exit ]; then
      echo "state exit $(cat exit)"
    else
      echo "state gone"
    fi
  fi
  # After the state: what has ended prints nothing more.
  extent stdout.jsonl "$2" "$4"
  out=$part outfrom=$from
  echo "stdout $size $from $part"
  extent stderr.log "$3" "$4"
  echo "stderr $size $from $part"
  echo
  [ $out = 0 ] || tail -c +$((outfrom + 1)) stdout.jsonl | head -c $out
  [ $part = 0 ] || tail -c +$((from + 1)) stderr.log | head -c $part
}

# $1: stop or cancel; $2: the attempt. Where its script runs on another host, that script sees the file.
ask() {
  mkdir -p "$2" && cd "$2" && : > "$1" || exit 72
  read_folder && [ ! -e exit ] && [ "$host" = "$(hostname)" ] || return 0
  if lives "$w" "$ws"; then
    case $1 in stop) kill -USR1 "$w" ;; cancel) kill -TERM "$w" ;; esac
  elif lives "$c" "$cs"; then
    case $1 in stop) patient "$c" ;; cancel) now "$c" "$cs" ;; esac
  fi
  return 0
}

what=$1
shift
case $what in
  run) run "$@" ;;
  command) command_of_run "$@" ;;
  begin) begin "$@" ;;
  look) look "$@" ;;
  stop | cancel) ask "$what" "$1" ;;
esac
