// SPDX-License-Identifier: MIT
/*
 * Timeouts of 10,000 TCP connections, whose sockets and timers share one ring of io_uring. While
 * it serves, it makes no other system call, but for close().
 *
 * A client may send any number of lines and gets a line back for each. It must begin a line
 * within the idle timeout and end it within the request timeout.
 *
 * Each connection has one timer, whose user_data is the connection. A request pushes the timeout
 * out, which is a store: the kernel hears of it when the timer has expired too early, or when
 * the timeout is to come earlier than the timer.
 *
 * The program ends after --connections of them, and fails if their ends do not add up.
 */
#include <hwtimer_uring.h>

#include "timeouts.h"

#define ENTRIES 4096
#define EVENTS 256

/* How a connection ended; GONE: the client left without an answer. */
enum end { ANSWERED, TIMED_OUT, REAPED, GONE, NR_ENDS };

/* What a completion is about: the low bits of its user_data, beside the connection */
enum about { NOTHING, CLIENT, EXPIRED, DATA, COMMAND, SHUT, ABOUT_MASK = 7 };

struct connection {
	int fd;
	uint64_t id, expires,
		due; /* the timer, its deadline, and the timeout's */
	bool timer, asked, receiving, shutting; /* what is still to come */
	bool in_request, answered, ended;
	struct hwtimer_request request;
	char text[256];
};

static struct io_uring ring;
static int timers, listener;
static struct hwtimer_event events[EVENTS];
static unsigned long accepted, open_now, open_most, requests, ends[NR_ENDS];

static struct io_uring_sqe *entry(void)
{
	struct io_uring_sqe *sqe;

	while (!(sqe = io_uring_get_sqe(&ring)))
		must(io_uring_submit(&ring));
	return sqe;
}

static void tell(struct io_uring_sqe *sqe, const struct connection *connection,
		 enum about about)
{
	io_uring_sqe_set_data64(sqe, (uintptr_t)connection | about);
}

static void accept_clients(void)
{
	struct io_uring_sqe *sqe = entry();

	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
	tell(sqe, NULL, CLIENT);
}

static void read_events(void)
{
	struct io_uring_sqe *sqe = entry();

	hwt_prep_read(sqe, timers, events, EVENTS);
	tell(sqe, NULL, EXPIRED);
}

static void receive(struct connection *connection)
{
	struct io_uring_sqe *sqe = entry();

	io_uring_prep_recv(sqe, connection->fd, connection->text,
			   sizeof(connection->text), 0);
	tell(sqe, connection, DATA);
	connection->receiving = true;
}

static void reply(const struct connection *connection, const char *text,
		  unsigned int flags)
{
	struct io_uring_sqe *sqe = entry();

	io_uring_prep_send(sqe, connection->fd, text, strlen(text),
			   MSG_NOSIGNAL);
	sqe->flags |= flags;
	tell(sqe, NULL, NOTHING);
}

/*
 * Makes the timer one that ends with the connection, or as early as the timeout. A command does
 * not use the fields and flags of the others.
 */
static void ask(struct connection *connection)
{
	struct hwtimer_request *request = &connection->request;
	struct io_uring_sqe *sqe = entry();

	*request = (struct hwtimer_request){
		.flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD,
		.id = connection->id,
		.time = connection->due,
		.user_data = (uintptr_t)connection,
	};
	if (connection->ended) {
		request->op = HWTIMER_OP_CANCEL;
		hwt_prep_cancel(sqe, timers, request);
	} else if (connection->timer) {
		request->op = HWTIMER_OP_RESCHEDULE;
		hwt_prep_reschedule(sqe, timers, request);
	} else {
		request->op = HWTIMER_OP_SCHEDULE;
		hwt_prep_schedule(sqe, timers, request);
	}
	tell(sqe, connection, COMMAND);
	connection->asked = true;
	connection->expires = connection->due;
	connection->timer = true;
}

/* The kernel has the request, and may write to it, until the command completes. */
static void settle(struct connection *connection)
{
	if (connection->asked)
		return;
	if (connection->ended ? connection->timer :
				!connection->timer ||
					connection->due < connection->expires) {
		ask(connection);
	} else if (connection->ended && !connection->receiving &&
		   !connection->shutting) {
		open_now--;
		close(connection->fd);
		free(connection);
	}
}

/* If the timer is gone, its event has been read, and says so. */
static void on_command(struct connection *connection, int result)
{
	connection->asked = false;
	if (connection->request.op == HWTIMER_OP_SCHEDULE) {
		must(result);
		connection->id = connection->request.id;
	} else if (connection->request.op == HWTIMER_OP_CANCEL && !result) {
		connection->timer = false;
	}
	settle(connection);
}

/*
 * The shutdown ends what is being received. The descriptor is closed when both have completed, as
 * the last reply, to which the shutdown is linked, needs it, too.
 */
static void end_connection(struct connection *connection, enum end end)
{
	struct io_uring_sqe *sqe;

	ends[end]++;
	connection->ended = true;
	if (connection->receiving) {
		sqe = entry();
		io_uring_prep_shutdown(sqe, connection->fd, SHUT_RDWR);
		tell(sqe, connection, SHUT);
		connection->shutting = true;
	}
	settle(connection);
}

static void on_event(const struct hwtimer_event *event)
{
	struct connection *connection = (void *)(uintptr_t)event->user_data;
	bool in_request = connection->in_request;

	connection->timer = false;
	if (connection->ended || connection->due > now_ns(CLOCK_MONOTONIC)) {
		settle(connection);
		return;
	}
	reply(connection, in_request ? REQUEST_TIMEOUT : IDLE_TIMEOUT,
	      IOSQE_IO_HARDLINK);
	end_connection(connection, in_request ? TIMED_OUT : REAPED);
}

static void on_events(int result)
{
	int i, count = must(result) / (int)sizeof(*events);

	if (!count)
		errx(1, "the instance is stopped");
	for (i = 0; i < count; i++)
		on_event(&events[i]);
	read_events();
}

static void set_timeout(struct connection *connection, unsigned long ms)
{
	connection->due = now_ns(CLOCK_MONOTONIC) + ms * MS;
	settle(connection);
}

static void on_client(int fd, bool more)
{
	struct connection *connection = allocate(1, sizeof(*connection));

	connection->fd = must(fd);
	accepted++;
	if (++open_now > open_most)
		open_most = open_now;
	set_timeout(connection, idle_timeout);
	receive(connection);
	if (!more)
		accept_clients();
}

/*
 * Answers what came: so many ends of lines, and perhaps the beginning of another line. The
 * time for a line counts from its first bytes, not from the last.
 */
static void on_lines(struct connection *connection, int lines, bool complete)
{
	if (!lines && connection->in_request)
		return;
	set_timeout(connection, complete ? idle_timeout : request_timeout);
	connection->in_request = !complete;
	connection->answered = complete;
	requests += lines;
	while (lines--)
		reply(connection, ANSWER, 0);
}

static void on_data(struct connection *connection, int length)
{
	int i, lines = 0;

	connection->receiving = false;
	if (connection->ended) {
		settle(connection);
		return;
	}
	for (i = 0; i < length; i++)
		lines += connection->text[i] == '\n';
	if (length <= 0) {
		end_connection(connection,
			       connection->answered ? ANSWERED : GONE);
		return;
	}
	on_lines(connection, lines, connection->text[length - 1] == '\n');
	receive(connection);
}

static void on_completion(const struct io_uring_cqe *cqe)
{
	uint64_t data = io_uring_cqe_get_data64(cqe);
	struct connection *connection =
		(void *)(uintptr_t)(data & ~(uint64_t)ABOUT_MASK);

	switch (data & ABOUT_MASK) {
	case CLIENT:
		on_client(cqe->res, cqe->flags & IORING_CQE_F_MORE);
		break;
	case EXPIRED:
		on_events(cqe->res);
		break;
	case DATA:
		on_data(connection, cqe->res);
		break;
	case COMMAND:
		on_command(connection, cqe->res);
		break;
	case SHUT:
		connection->shutting = false;
		settle(connection);
		break;
	}
}

static void serve(void)
{
	struct io_uring_cqe *cqes[256];
	unsigned int i, count;

	must(io_uring_submit_and_wait(&ring, 1));
	count = io_uring_peek_batch_cqe(&ring, cqes, 256);
	for (i = 0; i < count; i++)
		on_completion(cqes[i]);
	io_uring_cq_advance(&ring, count);
}

static bool adds_up(struct hwt *hwt)
{
	struct hwtimer_stats stats;

	must(hwt_stats(hwt, &stats));
	printf("server: all=%lu at_once=%lu answered=%lu timed_out=%lu",
	       accepted, open_most, ends[ANSWERED], ends[TIMED_OUT]);
	printf(" reaped=%lu gone=%lu requests=%lu\n", ends[REAPED], ends[GONE],
	       requests);
	return !stats.pending && !stats.ready &&
	       stats.delivered >= ends[TIMED_OUT] + ends[REAPED];
}

int main(int argc, char **argv)
{
	/* There is room for what all connections may have to say at once. */
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE |
			 IORING_SETUP_CLAMP,
		.cq_entries = 65536,
	};
	struct hwtimer_setup setup = { 0 };
	struct hwt *hwt;

	take_agreed_options(argc, argv);
	hwt = open_wheel(0, CLOCK_MONOTONIC);
	/* A timeout may be late by a tenth. Timers of the same tick share a completion. */
	setup.tick = request_timeout * MS / 10;
	must(hwt_setup(hwt, &setup));
	timers = hwt_fd(hwt);
	listener = tcp_listen(port, 0);
	must(io_uring_queue_init_params(ENTRIES, &ring, &params));
	accept_clients();
	read_events();
	while (accepted < connections || open_now)
		serve();
	return !adds_up(hwt);
}
