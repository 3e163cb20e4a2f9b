// SPDX-License-Identifier: GPL-2.0
/*
 * Takes Netty's HashedWheelTimer through the benchmark's phases, with the same output
 * as timer-bench. bench/bench.sh runs it as: NettyBench WHERE REP TIMERS...
 *
 * The wheel turns in a thread of its own, which also inserts new timers and removes
 * cancelled ones. All processor time of that thread counts as "expire + deliver".
 */
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.concurrent.TimeUnit;

public class NettyBench {
	private static final int TICKS = 3000;
	private static final int BUCKETS = 4096;
	private static final long TICK_NS = 1_000_000;
	private static final long GRACE_NS = 500_000_000;
	private static final int PAIRS_MAX = 131_072;
	private static final int WARM_UPS = 1;
	private static final int WARM_UP_TIMERS = 100_000;

	private final String where;
	private final int rep;
	private final int timers;
	private final boolean measured;
	private final int[] offsets;
	private final int[] order;
	private final byte[] deliveries;
	private int delivered;
	private long cancelNs;
	private Thread worker;

	private NettyBench(String where, int rep, int timers, boolean measured) {
		this.where = where;
		this.rep = rep;
		this.timers = timers;
		this.measured = measured;
		offsets = new int[timers];
		order = new int[timers];
		deliveries = new byte[timers];
		draw(new Random(2015 + rep));
	}

	private void draw(Random random) {
		for (int i = 0; i < timers; i++) {
			offsets[i] = random.nextInt(TICKS);
			order[i] = i;
		}
		for (int i = timers - 1; i > 0; i--) {
			int other = random.nextInt(i + 1);
			int timer = order[i];
			order[i] = order[other];
			order[other] = timer;
		}
	}

	private void emit(String phase, double value, String unit) {
		if (measured) {
			System.out.printf(
				"{\"system\": \"netty\", \"variant\": \"hashed wheel\", "
				+ "\"where\": \"%s\", \"timers\": %d, \"rep\": %d, "
				+ "\"phase\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}%n",
				where, timers, rep, phase, value, unit);
		}
	}

	/* Each task holds its number, as a real task holds the data for its work. */
	private final class Task implements TimerTask {
		private final int number;
		private final long deadline;

		Task(int number, long deadline) {
			this.number = number;
			this.deadline = deadline;
		}

		@Override
		public void run(Timeout timeout) {
			/* The wheel counts whole ticks from its own start. */
			if (System.nanoTime() < deadline - TICK_NS) {
				fail("timer " + number + " was early");
			}
			deliveries[number]++;
			delivered++;
		}
	}

	private static void fail(String why) {
		System.err.println("NettyBench: " + why);
		System.exit(1);
	}

	private HashedWheelTimer start() {
		HashedWheelTimer timer = new HashedWheelTimer(task -> {
			worker = new Thread(task);
			worker.setDaemon(true);
			return worker;
		}, TICK_NS, TimeUnit.NANOSECONDS, BUCKETS, false);
		timer.start();
		return timer;
	}

	private long workerNs() {
		return ManagementFactory.getThreadMXBean()
			.getThreadCpuTime(worker.getId());
	}

	/* Returns false if a timer was due before it could be cancelled. */
	private boolean run(long lead) throws InterruptedException {
		HashedWheelTimer wheel = start();
		Timeout[] timeouts = new Timeout[timers];
		long workerBefore = workerNs();

		long start = System.nanoTime();
		for (int i = 0; i < timers; i++) {
			long delay = lead + offsets[i] * TICK_NS;
			timeouts[i] = wheel.newTimeout(new Task(i, start + delay),
				delay, TimeUnit.NANOSECONDS);
		}
		long scheduled = System.nanoTime() - start;
		if (!cancel(timeouts) || System.nanoTime() >= start + lead) {
			wheel.stop();
			return false;
		}
		emit("schedule", (double) scheduled / timers, "ns/timer");
		emit("cancel", (double) cancelNs / (timers / 2), "ns/timer");
		expire(start + lead, workerBefore);
		hotPairs(wheel);
		wheel.stop();
		return true;
	}

	private boolean cancel(Timeout[] timeouts) {
		int half = timers / 2;
		long start = System.nanoTime();

		for (int i = 0; i < half; i++) {
			if (!timeouts[order[i]].cancel()) {
				return false;
			}
		}
		cancelNs = System.nanoTime() - start;
		return true;
	}

	private void expire(long first, long workerBefore)
			throws InterruptedException {
		int half = timers / 2;
		long last = first + TICKS * TICK_NS + GRACE_NS;

		Thread.sleep(Math.max(0, (last - System.nanoTime()) / 1_000_000));
		for (int i = 0; i < 100 && delivered < timers - half; i++) {
			Thread.sleep(100);
		}
		emit("expire + deliver",
			(double) (workerNs() - workerBefore) / (timers - half),
			"ns/timer");
		for (int i = 0; i < timers; i++) {
			if (deliveries[order[i]] != (i < half ? 0 : 1)) {
				fail("timer " + order[i] + " was delivered "
					+ deliveries[order[i]] + " times");
			}
		}
	}

	private void hotPairs(HashedWheelTimer wheel) {
		int pairs = Math.min(timers, PAIRS_MAX);
		long start = System.nanoTime();

		for (int i = 0; i < pairs; i++) {
			wheel.newTimeout(new Task(i, 0), 1, TimeUnit.HOURS).cancel();
		}
		emit("hot pair", (double) (System.nanoTime() - start) / pairs,
			"ns/timer");
	}

	private static void measure(String where, int rep, int timers,
			boolean measured) throws InterruptedException {
		long lead = GRACE_NS + 1000L * timers;

		while (!new NettyBench(where, rep, timers, measured).run(lead)) {
			lead *= 2;
		}
	}

	public static void main(String[] arguments) throws InterruptedException {
		String where = arguments[0];
		int rep = Integer.parseInt(arguments[1]);

		for (int i = 0; i < WARM_UPS; i++) {
			measure(where, rep, WARM_UP_TIMERS, false);
		}
		for (int i = 2; i < arguments.length; i++) {
			measure(where, rep, Integer.parseInt(arguments[i]), true);
		}
	}
}
