# SPDX-License-Identifier: MIT
# Completes the command line of hwtimerctl(1) in fish. The options of a command come from
# its --help.

function __hwtimerctl_commands
    hwtimerctl --help | string replace --regex --filter '^  ([a-z]+) +(.*)' '$1\t$2'
end

# The command on the line; fails if there is none yet
function __hwtimerctl_command
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    test (count $words) -gt 1; and echo $words[2]
end

function __hwtimerctl_options
    hwtimerctl (__hwtimerctl_command) --help |
        string replace --regex --filter '^  -., (--[a-z-]+)(?: [A-Z]+)? +(.*)' '$1\t$2'
end

# The processes that have instances, and the descriptors of one
function __hwtimerctl_processes
    hwtimerctl stats 2>/dev/null | string replace --regex --filter '^ *(\d+) +\d+ (\S*).*' '$1\t$2'
end

function __hwtimerctl_descriptors
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    # The word may be anything, which a pattern would take for a pattern.
    hwtimerctl stats 2>/dev/null | awk -v process="$words[3]" '$1 == process { print $2 }'
end

function __hwtimerctl_is
    contains -- (__hwtimerctl_command) $argv
end

function __hwtimerctl_word
    test (count (commandline --tokenize --cut-at-cursor --current-process)) -eq $argv[1]
end

complete --command hwtimerctl --no-files
complete --command hwtimerctl --condition '__hwtimerctl_word 1' --arguments '(__hwtimerctl_commands)'
complete --command hwtimerctl --condition '__hwtimerctl_word 1' --arguments '--help --version'
complete --command hwtimerctl --condition '__hwtimerctl_command >/dev/null' --arguments '(__hwtimerctl_options)'
complete --command hwtimerctl --condition '__hwtimerctl_is plot save restore metrics' --force-files
complete --command hwtimerctl --condition '__hwtimerctl_is list save; and __hwtimerctl_word 2' --arguments '(__hwtimerctl_processes)'
complete --command hwtimerctl --condition '__hwtimerctl_is list save; and __hwtimerctl_word 3' --arguments '(__hwtimerctl_descriptors)'
