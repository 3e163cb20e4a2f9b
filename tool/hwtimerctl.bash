# SPDX-License-Identifier: MIT
# Completes the command line of hwtimerctl(1) in bash.

# _hwtimerctl_files [SUFFIX...]: complete names of directories, and of files with one of
# the SUFFIXes, or of all files if there is none
_hwtimerctl_files()
{
	local suffix

	# Quotes special characters, and adds no space after a directory.
	compopt -o filenames
	mapfile -t COMPREPLY < <(
		compgen -d -- "$word"
		[ $# -gt 0 ] || compgen -f -- "$word"
		for suffix; do
			compgen -f -X "!*.$suffix" -- "$word"
		done
	)
}

# _hwtimerctl_processes: the processes that have instances
_hwtimerctl_processes()
{
	hwtimerctl stats --json 2>/dev/null | sed -n 's/.*"pid": \([0-9]*\).*/\1/p'
}

# _hwtimerctl_descriptors PROCESS: the descriptors of its instances
_hwtimerctl_descriptors()
{
	hwtimerctl stats --json 2>/dev/null |
		sed -n "s/.*\"pid\": $1, \"fd\": \([0-9]*\).*/\1/p"
}

_hwtimerctl()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local words

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="info stats owners watch plot list save restore"
		words+=" schedule --help --version"
	else
		case ${COMP_WORDS[1]},$previous in
		schedule,--clock) words="monotonic boottime" ;;
		watch,--interval | plot,--interval) words="100ms 500ms 1s 5s" ;;
		watch,--count | plot,--count) words="1 10 100" ;;
		owners,*) words="--json" ;;
		watch,*) words="--interval --count --once" ;;
		plot,--seconds) words="10 60" ;;
		plot,--pid)
			words=$(_hwtimerctl_processes)
			;;
		plot,--from)
			_hwtimerctl_files
			return
			;;
		plot,*)
			words="--seconds --count --interval --from --pid --script"
			_hwtimerctl_files png svg
			;;
		list,list) words="--fd --sort --json $(_hwtimerctl_processes)" ;;
		save,save) words="--fd $(_hwtimerctl_processes)" ;;
		list,--fd | save,--fd | restore,--limit | restore,--name) return ;;
		list,* | save,*)
			if [ "$COMP_CWORD" -eq 3 ] && [[ $previous = [0-9]* ]]; then
				words=$(_hwtimerctl_descriptors "$previous")
			elif [ "${COMP_WORDS[1]}" = list ]; then
				words="--sort --json"
			else
				words="--fd"
				_hwtimerctl_files
			fi
			;;
		restore,--)
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
			return
			;;
		restore,*)
			words="--check --if-exists --paused --limit --ids --name"
			_hwtimerctl_files
			;;
		schedule,--repeat | schedule,--slack) words="100us 1ms 200ms 1s" ;;
		schedule,--count) words="1 10 100" ;;
		schedule,*) words="--repeat --count --slack --clock" ;;
		stats,*) words="--json" ;;
		*) return ;;
		esac
	fi
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _hwtimerctl hwtimerctl
