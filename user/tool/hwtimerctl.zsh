#compdef hwtimerctl
# SPDX-License-Identifier: MIT
# Completes the command line of hwtimerctl(1) in zsh; installed as _hwtimerctl. The options
# of a command come from its --help.

# Sets flags to what _arguments takes: '--name[text]', or with ':value:' behind it
_hwtimerctl_options()
{
	local line
	flags=()
	hwtimerctl $1 --help | while IFS= read -r line; do
		[[ $line =~ '^  -., (--[a-z-]+)( [A-Z]+)? +(.*)' ]] || continue
		local name=$match[1] value=$match[2] text=${match[3]//[\[\]:]/ }
		case $value in
		'') flags+=("${name}[$text]") ;;
		' FILE') flags+=("$name=[$text]:file:_files") ;;
		*) flags+=("$name=[$text]:${value# }:") ;;
		esac
	done
}

_hwtimerctl_processes()
{
	local -a processes
	processes=(${(f)"$(hwtimerctl stats 2>/dev/null | sed -n 's/^ *\([0-9]*\) *[0-9]* \([^ ]*\).*/\1:\2/p')"})
	_describe 'process' processes
}

_hwtimerctl_descriptors()
{
	local -a descriptors
	# The word may be anything, which sed would take for commands.
	descriptors=(${(f)"$(hwtimerctl stats 2>/dev/null |
		awk -v process="$words[2]" '$1 == process { print $2 }')"})
	_describe 'descriptor' descriptors
}

_hwtimerctl()
{
	local -a commands flags operands
	if (( CURRENT == 2 )); then
		commands=(${(f)"$(hwtimerctl --help | sed -n 's/^  \([a-z][a-z]*\)  *\(.*\)/\1:\2/p')"})
		[[ $words[2] = -* ]] || _describe 'command' commands
		[[ $words[2] != -* ]] || _arguments '--help[list the commands]' '--version[print the version]'
		return
	fi
	shift words
	(( CURRENT-- ))
	_hwtimerctl_options $words[1]
	case $words[1] in
	plot) operands=('1:picture:_files -g "*.(png|svg)"') ;;
	list) operands=('1:process:_hwtimerctl_processes'
			'2:descriptor:_hwtimerctl_descriptors') ;;
	save) operands=('1:process:_hwtimerctl_processes'
			'2:descriptor:_hwtimerctl_descriptors' '3:file:_files') ;;
	restore) operands=('1:file:_files' '*::command:_normal') ;;
	esac
	_arguments $flags $operands
}

_hwtimerctl "$@"
