// SPDX-License-Identifier: MIT
/* The echo server of epoll-server.c in a loop of libuv */
#include <err.h>
#include <hwtimer_libuv.h>
#include <stdlib.h>
#include <string.h>

struct connection {
	uv_tcp_t tcp;
	uv_write_t write;
	struct hwt_timer idle;
	char text[4096];
};

static struct hwt_libuv timers;
static int64_t timeout = 30000000000; /* ns */

static void must(int ret)
{
	if (ret < 0)
		errx(1, "%s", uv_strerror(ret));
}

static void on_close(uv_handle_t *tcp)
{
	free(tcp->data);
}

static void close_connection(struct connection *connection)
{
	hwt_timer_stop(&connection->idle); /* after this, no callback comes */
	uv_close((uv_handle_t *)&connection->tcp, on_close);
}

static void on_idle(struct hwt_timer *timer)
{
	close_connection(hwt_timer_object(timer, struct connection, idle));
}

static void on_room(uv_handle_t *tcp, size_t size, uv_buf_t *room)
{
	struct connection *connection = tcp->data;

	(void)size;
	*room = uv_buf_init(connection->text, sizeof(connection->text));
}

static void on_data(uv_stream_t *tcp, ssize_t n, const uv_buf_t *room);

static void on_written(uv_write_t *write, int status)
{
	if (!status) /* otherwise, it is being closed */
		uv_read_start(write->handle, on_room, on_data);
}

static void on_data(uv_stream_t *tcp, ssize_t n, const uv_buf_t *room)
{
	struct connection *connection = tcp->data;
	uv_buf_t text = uv_buf_init(room->base, n > 0 ? n : 0);

	if (n < 0) {
		close_connection(connection);
	} else if (n > 0) {
		hwt_timer_again(&connection->idle); /* no system call */
		uv_read_stop(tcp); /* until the text is written */
		uv_write(&connection->write, tcp, &text, 1, on_written);
	}
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	must(connection ? status : -ENOMEM);
	uv_tcp_init(listener->loop, &connection->tcp);
	connection->tcp.data = connection;
	must(uv_accept(listener, (uv_stream_t *)&connection->tcp));
	hwt_timer_init(&connection->idle, timers.hwt, on_idle);
	hwt_timer_start(&connection->idle, timeout);
	uv_read_start((uv_stream_t *)&connection->tcp, on_room, on_data);
}

static void on_error(void *arg, int ret)
{
	(void)arg;
	must(ret);
}

int main(int argc, char **argv)
{
	struct hwtimer_setup setup = { .tick = 100000000 }; /* ns */
	uv_loop_t *loop = uv_default_loop();
	struct sockaddr_in address;
	uv_tcp_t listener;

	if (argc > 2)
		timeout = atoi(argv[2]) * 1000000LL;
	timers.on_error = on_error;
	must(hwt_open(&timers.hwt, HWT_NONBLOCK));
	must(hwt_setup(timers.hwt, &setup));
	must(hwt_libuv_add(&timers, loop));
	uv_ip4_addr("0.0.0.0", argc > 1 ? atoi(argv[1]) : 7171, &address);
	uv_tcp_init(loop, &listener);
	must(uv_tcp_bind(&listener, (struct sockaddr *)&address, 0));
	must(uv_listen((uv_stream_t *)&listener, 1000, on_connection));
	return uv_run(loop, UV_RUN_DEFAULT);
}
