// SPDX-License-Identifier: MIT
/* Prepares the terminal for a live view; see terminal.h. */
#define _GNU_SOURCE
#include "terminal.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define ALTERNATE_SCREEN "\033[?1049h\033[?25l"
#define ORDINARY_SCREEN "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define END_OF_LINE "\033[K"
#define END_OF_SCREEN "\033[J"
#define ORDINARY "\033[m"
#define CUT '>'

/* Signals that end or stop the program: the terminal has to be restored first. */
static const int leaving[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

#define NR_LEAVING (sizeof(leaving) / sizeof(leaving[0]))

static bool is_open;
static bool at_exit;
static bool keys;
static struct termios before;
static sigset_t mask_before;
/* Signal that came, or 0; set in terminal_wait() only: otherwise signals are blocked. */
static sig_atomic_t came;

static void signal_came(int signal)
{
	came = signal;
}

static void say(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

/* Ends the program if the reader is gone or the disk is full: going on is useless. */
static void check_said(void)
{
	if (ferror(stdout))
		err(1, "standard output");
}

/*
 * Waits until the program is in the foreground: tcdrain() stops a background program. In
 * the background the terminal may be in the state of the shell's own line editor;
 * tcdrain() changes nothing of that. Fails if no shell can bring the program to the
 * foreground.
 */
static bool in_foreground(int fd)
{
	return isatty(fd) && !tcdrain(fd);
}

static void note(int signal)
{
	struct sigaction action = { .sa_handler = signal_came };

	sigemptyset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

/* Blocks the signals; they come only while terminal_wait() waits. */
static void catch_signals(void)
{
	sigset_t caught;
	unsigned int i;

	sigemptyset(&caught);
	sigaddset(&caught, SIGWINCH);
	note(SIGWINCH);
	for (i = 0; i < NR_LEAVING; i++) {
		sigaddset(&caught, leaving[i]);
		note(leaving[i]);
	}
	sigprocmask(SIG_BLOCK, &caught, &mask_before);
}

static void keys_as_pressed(void)
{
	struct termios raw;

	keys = keys && !tcgetattr(STDIN_FILENO, &before);
	if (!keys)
		return;
	raw = before;
	raw.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

/* Returns whether standard output shows a screen: a dumb terminal has lines only. */
static bool has_screen(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (!term || strcmp(term, "dumb"));
}

/*
 * Prepares standard output if it is a terminal; the caller restores it with
 * terminal_close(). Error messages are buffered until then, because a message that ends
 * the program would disappear with the screen.
 */
void terminal_open(void)
{
	static char messages[4096];

	if (!has_screen())
		return;
	in_foreground(STDOUT_FILENO);
	keys = in_foreground(STDIN_FILENO);
	setvbuf(stderr, messages, _IOFBF, sizeof(messages));
	catch_signals();
	keys_as_pressed();
	say(ALTERNATE_SCREEN);
	is_open = true;
	/* Restores the terminal at any end of the program but a crash or SIGKILL. */
	if (!at_exit)
		at_exit = !atexit(terminal_close);
}

/* Restores the terminal, and what signals do. May be called more than once. */
void terminal_close(void)
{
	unsigned int i;

	if (!is_open)
		return;
	is_open = false;
	say(ORDINARY_SCREEN);
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	fflush(stderr);
	for (i = 0; i < NR_LEAVING; i++)
		signal(leaving[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* Lets a signal have its default effect; returns if the signal only stops the program. */
static void leave(int signal_nr)
{
	terminal_close();
	raise(signal_nr);
	terminal_open();
}

static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *locale = getenv(names[i]);

		if (locale && *locale)
			return strcasestr(locale, "utf-8") ||
			       strcasestr(locale, "utf8");
	}
	return false;
}

struct screen terminal_screen(void)
{
	const char *no_color = getenv("NO_COLOR");
	struct screen screen = { .utf8 = is_utf8() };
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	screen.columns = size.ws_col;
	if (!is_open)
		return screen;
	screen.rows = size.ws_row ? size.ws_row : 24;
	screen.columns = size.ws_col ? size.ws_col : 80;
	screen.colour = !no_color || !*no_color;
	return screen;
}

/* Returns the length of the escape sequence, m at its end, or of the character at @text. */
static size_t length_of(const char *text)
{
	size_t length = 1;

	if (*text == '\033')
		return strcspn(text, "m") + 1;
	while ((text[length] & 0xc0) == 0x80)
		length++;
	return length;
}

/* Returns how many bytes of @line fill @columns; an escape sequence takes none. */
static size_t fitting(const char *line, size_t length, unsigned int columns)
{
	size_t i = 0;

	while (i < length && (line[i] == '\033' || columns)) {
		columns -= line[i] != '\033';
		i += length_of(line + i);
	}
	return i;
}

/* Marks a cut line in its last column, because half a number is another number. */
static void show_line(const char *line, size_t length, unsigned int columns)
{
	if (fitting(line, length, columns) == length) {
		fwrite(line, 1, length, stdout);
		return;
	}
	fwrite(line, 1, fitting(line, length, columns - 1), stdout);
	fputc(CUT, stdout);
	fputs(ORDINARY, stdout);
}

/* Shows text, in lines, from the top of the screen on. */
void terminal_show(const char *text)
{
	struct screen screen = terminal_screen();
	unsigned int row = 0;

	if (!is_open) {
		say(text);
		check_said();
		return;
	}
	fputs(HOME, stdout);
	while (*text && row++ < screen.rows) {
		size_t length = strcspn(text, "\n");
		const char *next = text + length + (text[length] == '\n');

		if (row > 1)
			fputs("\r\n", stdout);
		/* Erase first: after a full row this would erase the last cell. */
		fputs(*next ? END_OF_LINE : END_OF_SCREEN, stdout);
		show_line(text, length, screen.columns);
		text = next;
	}
	fflush(stdout);
	check_said();
}

static struct timespec left_until(uint64_t until)
{
	struct timespec now;
	uint64_t time;

	clock_gettime(CLOCK_MONOTONIC, &now);
	time = now.tv_sec * 1000000000ULL + now.tv_nsec;
	time = until > time ? until - time : 0;
	return (struct timespec){ .tv_sec = time / 1000000000,
				  .tv_nsec = time % 1000000000 };
}

/* Returns the key that was pressed; TERMINAL_REDRAW: one without a character, such as F1. */
static int key_pressed(void)
{
	struct pollfd more = { .fd = STDIN_FILENO, .events = POLLIN };
	char pressed = 0, rest[16];

	if (read(STDIN_FILENO, &pressed, 1) <= 0)
		keys = false; /* the terminal is gone */
	if (pressed > ' ')
		return pressed;
	if (pressed == '\033' && poll(&more, 1, 0) > 0 &&
	    read(STDIN_FILENO, rest, sizeof(rest)) < 0)
		keys = false;
	return TERMINAL_REDRAW;
}

/**
 * terminal_wait - wait for a time, a key or a signal
 * @until: end of the wait, ns on CLOCK_MONOTONIC
 *
 * Return: the key that was pressed, TERMINAL_REDRAW, or TERMINAL_TIME.
 */
int terminal_wait(uint64_t until)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec left = left_until(until);
	int ret = ppoll(&input, is_open && keys, &left,
			is_open ? &mask_before : NULL);

	if (ret < 0 && errno != EINTR)
		err(1, "poll");
	if (came) {
		int signal_nr = came;

		came = 0;
		if (signal_nr != SIGWINCH)
			leave(signal_nr);
		return TERMINAL_REDRAW;
	}
	if (ret > 0)
		return key_pressed();
	return ret < 0 ? TERMINAL_REDRAW : TERMINAL_TIME;
}
