// SPDX-License-Identifier: MIT
/* Has gnuplot draw what was sampled; see drawing.h. */
#define _GNU_SOURCE
#include "drawing.h"
#include "replacement.h"
#include "units.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- the script: data ---- */

/* Returns the length of the control character at @text, in UTF-8; 0: there is none. */
static size_t control_length(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (iscntrl(bytes[0]))
		return 1;
	/* From U+0080 to U+009F */
	return bytes[0] == 0xc2 && bytes[1] >= 0x80 && bytes[1] < 0xa0 ? 2 : 0;
}

/*
 * Writes a text in gnuplot's single quotes, in which nothing but these and a newline is
 * special. Behind a newline, gnuplot would run what follows, and the text may come from a
 * file of records. The script may go to a terminal, which must not obey the text, either.
 */
static void put_quoted(FILE *to, const char *text)
{
	fputc('\'', to);
	while (*text) {
		size_t control = control_length(text);

		if (*text == '\'')
			fputc('\'', to);
		fputc(control ? '?' : *text, to);
		text += control ? control : 1;
	}
	fputc('\'', to);
}

/*
 * Writes a file name. gnuplot runs a name that begins with | as a command, and looks up
 * one that begins with ~ in a home directory. So a relative name gets ./ in front.
 */
static void put_name(FILE *to, const char *name)
{
	char path[PATH_MAX + 2];

	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : "./", name);
	put_quoted(to, path);
}

/* A lateness in s, for a point in which timers have expired */
static void put_lateness_of(FILE *to, const struct change *change, double share)
{
	if (lateness_events(change->lateness))
		fprintf(to, " %.9f",
			lateness_of(change->lateness, share) / 1e9);
	else
		fputs(" NaN", to);
}

static void put_points(FILE *to, const struct curve *curve)
{
	unsigned int i;

	fputs("# seconds; scheduled, cancelled, expired, delivered a second; pending; ready;\n"
	      "# MiB; lateness of 50%, 99% and 99.9%, s\n"
	      "$points << EOD\n",
	      to);
	for (i = 0; i < curve->count; i++) {
		const struct change *change = &curve->points[i].change;
		double seconds = change->seconds;

		fprintf(to, "%.3f %.3f %.3f %.3f %.3f", curve->points[i].time,
			change->scheduled / seconds,
			change->cancelled / seconds, change->expired / seconds,
			change->delivered / seconds);
		fprintf(to, " %" PRIu64 " %" PRIu64 " %.3f", change->pending,
			change->ready, change->bytes / 1048576.0);
		put_lateness_of(to, change, 0.5);
		put_lateness_of(to, change, 0.99);
		put_lateness_of(to, change, 0.999);
		fputc('\n', to);
	}
	fputs("EOD\n", to);
}

/**
 * struct extent - the part of the histogram that is drawn
 * @lateness: the histogram of all points together
 * @first: the first bucket
 * @last: the last bucket
 */
struct extent {
	uint64_t lateness[HWTIMER_LATENESS_BUCKETS];
	unsigned int first;
	unsigned int last;
};

static struct extent extent_of(const struct curve *curve)
{
	struct extent extent = { .last = HWTIMER_LATENESS_BUCKETS - 1 };
	struct change sum = { 0 };
	unsigned int i;

	for (i = 0; i < curve->count; i++)
		change_add(&sum, &curve->points[i].change);
	memcpy(extent.lateness, sum.lateness, sizeof(sum.lateness));
	while (extent.first < extent.last && !extent.lateness[extent.first])
		extent.first++;
	while (extent.last > extent.first && !extent.lateness[extent.last])
		extent.last--;
	return extent;
}

static void put_histogram(FILE *to, const struct extent *extent)
{
	unsigned int i;

	fputs("# late by less than; events\n$lateness << EOD\n", to);
	for (i = extent->first; i <= extent->last; i++) {
		char text[UNITS_ROOM];

		fprintf(to, "\"%s\" %" PRIu64 "\n",
			units_format_time(lateness_end(i), text),
			extent->lateness[i]);
	}
	fputs("EOD\n", to);
}

/* ---- the script: titles ---- */

static void put_title(FILE *to, const struct curve *curve)
{
	double seconds = curve->points[curve->count - 1].time;
	char text[512], when[64] = "", length[UNITS_ROOM];
	time_t time = curve->realtime / 1000000000;
	struct tm tm;

	if (curve->realtime && localtime_r(&time, &tm))
		strftime(when, sizeof(when), ", %F %T %Z", &tm);
	snprintf(text, sizeof(text), "hwtimer%s%s", *curve->host ? " on " : "",
		 curve->host);
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 "%s: %u instance%s, %s", when, curve->most,
		 curve->most == 1 ? "" : "s",
		 units_format_time(seconds * 1e9, length));
	fputs("set multiplot layout 2,2 title ", to);
	put_quoted(to, text);
	fputs(" noenhanced\n", to);
}

/* Returns the place of a share of all events on the axis of the histogram. */
static unsigned int place_of(const struct extent *extent, double share)
{
	uint64_t sum = lateness_events(extent->lateness), seen = 0;
	unsigned int i;

	for (i = extent->first; i < extent->last; i++) {
		seen += extent->lateness[i];
		if (seen >= sum * share)
			break;
	}
	return i - extent->first;
}

/* A line at each percentile, and the percentiles in the title */
static void put_percentiles(FILE *to, const struct extent *extent)
{
	static const struct {
		const char *name;
		double share;
	} shares[] = { { "50%", 0.5 },
		       { "90%", 0.9 },
		       { "99%", 0.99 },
		       { "99.9%", 0.999 } };
	unsigned int i;

	fputs("unset arrow\nunset label\n", to);
	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		unsigned int x = place_of(extent, shares[i].share);

		fprintf(to,
			"set arrow from first %u.5,graph 0 to first %u.5,graph 1 nohead front dashtype 2 linecolor 'black'\n"
			"set label '%s' at first %u.5,graph %.2f right offset -0.3,0 front\n",
			x, x, shares[i].name, x, 0.96 - 0.06 * i);
	}
	fputs("set title 'late by less than", to);
	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		char text[UNITS_ROOM];

		fprintf(to, "%s %s %s", i ? "," : ":", shares[i].name,
			units_format_time(lateness_of(extent->lateness,
						      shares[i].share),
					  text));
	}
	fputs("' noenhanced font ',10'\n", to);
}

/* ---- the script: panels ---- */

static const char rates_panel[] =
	"set key outside bottom center horizontal\n"
	"set grid\n"
	"set yrange [0:*]\n"
	"set format y '%.1s%c'\n"
	"set format x '%g s'\n"
	"set title 'timers per second'\n"
	"plot $points using 1:2 with lines linewidth 2 title 'scheduled', \\\n"
	"     $points using 1:3 with lines linewidth 2 title 'cancelled', \\\n"
	"     $points using 1:4 with lines linewidth 2 title 'expired', \\\n"
	"     $points using 1:5 with lines linewidth 2 dashtype 2 title 'delivered'\n";

static const char pending_panel[] =
	"set title 'timers, and memory in MiB (right)'\n"
	"set ytics nomirror\n"
	"set y2tics\n"
	"set y2range [0:*]\n"
	"plot $points using 1:6 with lines linewidth 2 title 'pending', \\\n"
	"     $points using 1:7 with lines linewidth 2 title 'events to be read', \\\n"
	"     $points using 1:8 axes x1y2 with lines linewidth 2 title 'MiB'\n"
	"unset y2tics\n"
	"set ytics mirror\n";

static const char lateness_panel[] =
	"set title 'late by less than'\n"
	"set logscale y\n"
	"set yrange [*:*]\n"
	"set format y '%.0s%cs'\n"
	"plot $points using 1:9 with lines linewidth 2 title '50%', \\\n"
	"     $points using 1:10 with lines linewidth 2 title '99%', \\\n"
	"     $points using 1:11 with lines linewidth 2 title '99.9%'\n";

/* Each bucket is a bar; each power of two has a name on the axis. */
static const char histogram_panel[] = "set format y '%.0s%c'\n"
				      "set yrange [0.8:*]\n"
				      "set ylabel 'events (logarithmic)'\n"
				      "set xtics rotate by -45\n"
				      "set style fill solid 0.6 noborder\n"
				      "set boxwidth 0.9\n";

void drawing_put_script(FILE *to, const struct curve *curve,
			const char *picture)
{
	struct extent extent = extent_of(curve);

	fprintf(to, "set terminal %s size 1200,900 background '#ffffff'\n",
		curve->svg ? "svg" : "pngcairo");
	if (picture) {
		fputs("set output ", to);
		put_name(to, picture);
		fputc('\n', to);
	}
	put_points(to, curve);
	put_histogram(to, &extent);
	put_title(to, curve);
	fputs(rates_panel, to);
	fputs(pending_panel, to);
	/* gnuplot cannot draw a logarithmic axis without a point. */
	if (lateness_events(extent.lateness)) {
		fputs(lateness_panel, to);
		fputs(histogram_panel, to);
		put_percentiles(to, &extent);
		fprintf(to, "set xrange [-2:%u]\n",
			extent.last - extent.first + 2);
		fprintf(to,
			"plot $lateness using 0:2:xtic((int($0) + %u) %% 4 == 3 ? strcol(1) : '') with boxes notitle\n",
			extent.first % 4);
	}
	fputs("unset multiplot\n", to);
}

/* ---- gnuplot ---- */

/* Returns whether a program is in the directories of PATH. */
static bool program_found(const char *name)
{
	const char *directory = getenv("PATH");
	char path[PATH_MAX];
	struct stat st;

	for (; directory && *directory; directory += *directory == ':') {
		size_t length = strcspn(directory, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)length, directory,
			 name);
		if (!stat(path, &st) && S_ISREG(st.st_mode) &&
		    !access(path, X_OK))
			return true;
		directory += length;
	}
	return false;
}

void drawing_need_gnuplot(void)
{
	if (!program_found("gnuplot"))
		errx(1,
		     "gnuplot is not installed: sudo apt install gnuplot-nox (or use --script)");
}

/*
 * Starts gnuplot, which writes the picture to @output; returns the pipe to its input, and
 * stores its process id in *@pid.
 */
static FILE *start_gnuplot(int output, pid_t *pid)
{
	char *const arguments[] = { "gnuplot", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error;
	FILE *file;

	if (pipe2(ends, O_CLOEXEC))
		err(1, "pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	error = posix_spawnp(pid, "gnuplot", &actions, NULL, arguments,
			     environ);
	if (error)
		errx(1, "gnuplot: %s", strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	file = fdopen(ends[1], "w");
	if (!file)
		err(1, "gnuplot");
	return file;
}

/* Copies all of @from to @picture; returns whether there was anything. */
static bool copy(int from, FILE *picture)
{
	char buffer[65536];
	bool any = false;
	ssize_t count;

	if (lseek(from, 0, SEEK_SET))
		err(1, "the picture");
	while ((count = read(from, buffer, sizeof(buffer))) > 0) {
		any = true;
		if (!fwrite(buffer, count, 1, picture))
			replacement_failed();
	}
	if (count < 0)
		err(1, "the picture");
	return any;
}

/* gnuplot does not notice that a disk is full. So it writes to memory. */
bool drawing_run(const struct curve *curve, FILE *picture)
{
	int status, output = memfd_create("picture", MFD_CLOEXEC);
	bool drawn;
	pid_t pid;
	FILE *to;

	if (output < 0)
		err(1, "no memory for the picture");
	/* If gnuplot ends early, its own message is better than a SIGPIPE. */
	signal(SIGPIPE, SIG_IGN);
	to = start_gnuplot(output, &pid);
	drawing_put_script(to, curve, NULL);
	fclose(to);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	drawn = !status && copy(output, picture);
	close(output);
	return drawn;
}
