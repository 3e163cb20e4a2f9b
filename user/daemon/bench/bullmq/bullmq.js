// SPDX-License-Identifier: GPL-2.0
/*
 * BullMQ's delayed jobs, for bench.py.
 *
 *	usage: NODE_PATH=... node bullmq.js PORT schedule BATCH
 *	       NODE_PATH=... node bullmq.js PORT work
 *
 * schedule reads a deadline in ms since 1970 from each line, schedules a job for each, BATCH a
 * call, and prints how long that took, in s. work prints an empty line when it is ready, and
 * then a line for each job: the time in ms since 1970, and the payload.
 */
"use strict";

const { readFileSync } = require("fs");
const { Queue, Worker } = require("bullmq");

// Jobs in flight while they are scheduled
const IN_FLIGHT = 200;

const CONCURRENCY = 100;

const [port, what, batch] = process.argv.slice(2);
const connection = { host: "127.0.0.1", port: Number(port) };

// ms since 1970, with fractions
const now = () => performance.timeOrigin + performance.now();

// A job that has ended leaves nothing behind, as in the other systems.
function jobOf(deadline, number) {
	const timestamp = Date.now();

	return {
		name: "timer",
		data: String(number).padStart(32, "0"),
		opts: { timestamp, delay: deadline - timestamp, removeOnComplete: true },
	};
}

async function schedule(count) {
	const deadlines = readFileSync(0, "utf8").split("\n").map(Number);
	const queue = new Queue("bench", { connection });
	let next = 0;

	async function produce() {
		while (next < deadlines.length) {
			const first = next;
			const part = deadlines.slice(first, next += count);

			await queue.addBulk(part.map((due, i) => jobOf(due, first + i)));
		}
	}

	async function produceOne() {
		while (next < deadlines.length) {
			const { name, data, opts } = jobOf(deadlines[next], next++);

			await queue.add(name, data, opts);
		}
	}

	await queue.waitUntilReady();
	const start = now();

	await Promise.all(Array.from({ length: Math.max(1, IN_FLIGHT / count) },
				     count === 1 ? produceOne : produce));
	console.log((now() - start) / 1000);
	await queue.close();
}

async function work() {
	let lines = [];
	const worker = new Worker("bench", async (job) => {
		lines.push(`${now()} ${job.data}\n`);
	}, { connection, concurrency: CONCURRENCY });

	await worker.waitUntilReady();
	console.log();
	setInterval(() => {
		process.stdout.write(lines.join(""));
		lines = [];
	}, 50);
}

(what === "work" ? work() : schedule(Number(batch))).catch((error) => {
	console.error(error.message);
	process.exit(1);
});
