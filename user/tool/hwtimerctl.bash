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
	hwtimerctl stats 2>/dev/null | sed -n 's/^ *\([0-9][0-9]*\) .*/\1/p'
}

# _hwtimerctl_descriptors PROCESS: the descriptors of its instances
_hwtimerctl_descriptors()
{
	# The word may be anything, which sed would take for commands.
	hwtimerctl stats 2>/dev/null | awk -v process="$1" '$1 == process { print $2 }'
}

# _hwtimerctl_commands: the commands that --help lists
_hwtimerctl_commands()
{
	hwtimerctl --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

# _hwtimerctl_options COMMAND: the options that its --help lists
_hwtimerctl_options()
{
	hwtimerctl "$1" --help 2>/dev/null | sed -n 's/^  -., \(--[a-z-]*\).*/\1/p'
}

_hwtimerctl()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local command=${COMP_WORDS[1]-} words

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="$(_hwtimerctl_commands) --help --version"
	else
		case $command,$previous in
		schedule,--clock) words="monotonic boottime" ;;
		*,--interval) words="100ms 500ms 1s 5s" ;;
		*,--count) words="1 10 100" ;;
		schedule,--repeat | schedule,--slack) words="100us 1ms 200ms 1s" ;;
		watch,--sort)
			words="pid fd command pending ready sched cancel expire deliv memory"
			words+=" late50 late99"
			;;
		plot,--seconds) words="10 60" ;;
		plot,--pid) words=$(_hwtimerctl_processes) ;;
		*,--from | *,--output | *,--ids)
			_hwtimerctl_files
			return
			;;
		*,--fd | *,--limit | *,--name) return ;;
		restore,--)
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
			return
			;;
		*)
			words=$(_hwtimerctl_options "$command")
			_hwtimerctl_operands "$command"
			;;
		esac
	fi
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$word")
}

# _hwtimerctl_operands COMMAND: what is no option; adds to the caller's words, or completes
# names of files
_hwtimerctl_operands()
{
	case $1,$COMP_CWORD in
	list,2 | save,2) words+=" $(_hwtimerctl_processes)" ;;
	list,3 | save,3) words+=" $(_hwtimerctl_descriptors "${COMP_WORDS[2]}")" ;;
	plot,*) _hwtimerctl_files png svg ;;
	save,* | restore,*) _hwtimerctl_files ;;
	esac
}

complete -F _hwtimerctl hwtimerctl
