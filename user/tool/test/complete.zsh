#!/usr/bin/zsh -f
# SPDX-License-Identifier: MIT
# Prints what zsh offers after each argument, as a user would see it on a terminal.
# FUNCTIONS is a directory with _hwtimerctl.
#
#	usage: complete.zsh FUNCTIONS LINE...

zmodload zsh/zpty

where=$1
shift
zpty shell "TERM=xterm zsh -f -i"
zpty -w shell "PS1=; fpath=($where \$fpath); autoload -U compinit; compinit -u -D; stty rows 100 columns 200; echo REA''DY"
zpty -r shell output $'*READY\r*2004h*'
for line; do
	# zsh's line editor is ready once it has asked for bracketed paste (2004h).
	# Twice: the first key may only complete what all have in common. Then ^U.
	zpty -n -w shell "$line"$'\t\t'
	zpty -n -w shell $'\C-uprint DO\'\'NE\r'
	zpty -r shell output $'*DONE\r*2004h*'
	print -r -- "$output"
done
zpty -d shell
