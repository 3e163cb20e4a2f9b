# SPDX-License-Identifier: MIT
# Completion of hwtimerctl(1) for bash.

_hwtimerctl()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local words

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="info stats schedule --help --version"
	else
		case ${COMP_WORDS[1]},$previous in
		schedule,--clock) words="monotonic boottime" ;;
		schedule,--repeat | schedule,--slack) words="100us 1ms 200ms 1s" ;;
		schedule,--count) words="1 10 100" ;;
		schedule,*) words="--repeat --count --slack --clock" ;;
		stats,*) words="--json" ;;
		*) return ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _hwtimerctl hwtimerctl
