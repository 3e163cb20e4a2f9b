// SPDX-License-Identifier: GPL-2.0
/*
 * BullMQ's delayed jobs, measured as redis-drive measures the other systems: the same
 * payloads, deadlines, accounts and lines of JSON. See ../drive/measure.c.
 *
 *	usage: NODE_PATH=... node bullmq.js --port N --measure NAME [--timers N] ...
 */
"use strict";

const { Queue, Worker } = require("bullmq");
const { Redis } = require("ioredis");

const HOUR = 3600000;

// Timers in flight while they are scheduled, as many as redis-drive has
const PIPELINED = 200;

// Timers that have not come so long after the last deadline, in ms, are lost.
const PATIENCE = 60000;

// One timer in so many is cancelled by the check.
const CANCELLED = 4;

const options = {
	port: "0",
	measure: "check",
	timers: "100000",
	batch: "100",
	rate: "10000",
	lead: "0",
	concurrency: "100",
	where: "host",
	variant: "",
	rep: "1",
};

function parseArguments(args) {
	for (let i = 0; i < args.length; i += 2) {
		const name = args[i].replace(/^--/, "");

		if (!(name in options) || i + 1 === args.length)
			throw new Error(`no such option: ${args[i]}`);
		options[name] = args[i + 1];
	}
	for (const name of ["port", "timers", "batch", "rate", "lead", "rep",
			    "concurrency"])
		options[name] = Number(options[name]);
	// BullMQ takes longer to schedule than others, and a busy machine still longer.
	options.lead ||= 5000 + options.timers / 2;
}

function emit(phase, value, unit) {
	console.log(JSON.stringify({
		system: "BullMQ", variant: options.variant, where: options.where,
		timers: options.timers, rep: options.rep, turn: 0,
		phase, value: Number(value.toFixed(3)), unit,
	}));
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// ms since 1970, with fractions
const now = () => performance.timeOrigin + performance.now();

const address = () => ({ host: "127.0.0.1", port: options.port });

// Deadlines spread evenly over some ms, in random order
function makeTimers(start, spread) {
	const timers = [];

	for (let i = 0; i < options.timers; i++)
		timers.push({
			due: start + Math.floor((spread * i) / options.timers),
			payload: String(i).padStart(32, "0"),
			cancelled: 0,
			fired: 0,
		});
	for (let i = 1; i < timers.length; i++) {
		const other = Math.floor(Math.random() * (i + 1));

		[timers[i].due, timers[other].due] =
			[timers[other].due, timers[i].due];
	}
	return timers;
}

// A job that has ended leaves nothing behind, as in the other systems.
function jobOf(timer) {
	const due = Date.now();

	return {
		name: "timer",
		data: timer.payload,
		opts: {
			timestamp: due,
			delay: timer.due - due,
			removeOnComplete: true,
		},
	};
}

// Schedules all timers, with PIPELINED of them in flight; returns how long it took, in s
async function schedule(queue, timers) {
	const start = now();
	const calls = Math.max(1, PIPELINED / options.batch);
	let next = 0;

	async function producer() {
		while (next < timers.length) {
			const part = timers.slice(next, next + options.batch);

			next += part.length;
			if (options.batch === 1) {
				const { name, data, opts } = jobOf(part[0]);

				part[0].job = await queue.add(name, data, opts);
			} else {
				const jobs = await queue.addBulk(part.map(jobOf));

				jobs.forEach((job, i) => { part[i].job = job; });
			}
		}
	}
	await Promise.all(Array.from({ length: calls }, producer));
	return (now() - start) / 1000;
}

async function withQueue(what) {
	const queue = new Queue("bench", { connection: address() });

	await queue.waitUntilReady();
	try {
		return await what(queue);
	} finally {
		await queue.close();
	}
}

// An hour away, spread over an hour
const fill = () => withQueue((queue) =>
	schedule(queue, makeTimers(Date.now() + HOUR, HOUR)));

async function measureSchedule() {
	const phase = options.batch > 1 ?
		`schedule, batches of ${options.batch}` : "schedule, one per call";

	emit(phase, options.timers / await fill(), "1/s");
}

async function info() {
	const redis = new Redis(address());
	const text = await redis.info("all");

	redis.disconnect();
	return (name) => Number(text.split(name)[1]?.match(/^[0-9.]+/) ?? 0);
}

async function measureMemory() {
	const before = (await info())("used_memory:");

	await fill();
	emit("memory", ((await info())("used_memory:") - before) / options.timers,
	     "B");
}

// Fills the server and waits at it; redis-drive --measure monitor watches.
async function measureIdle() {
	await fill();
	new Worker("bench", async () => {}, {
		connection: address(), concurrency: options.concurrency,
	});
	console.log("idle");
	await sleep(HOUR);
}

// What the server has done; scripts call neither of the first two commands
async function effort() {
	const value = await info();

	return {
		trips: value("cmdstat_evalsha:calls=") +
			value("cmdstat_bzpopmin:calls="),
		commands: value("total_commands_processed:"),
		cpu: (value("used_cpu_sys:") + value("used_cpu_user:")) * 1e6,
	};
}

// Timers from their schedule to their delivery, of which `cancel` may cancel some
async function run(spread, cancel) {
	const start = Date.now() + options.lead;
	const timers = makeTimers(start, spread);
	const lateness = [];
	let strange = 0, early = 0, last = 0;
	let wanted = timers.length;

	await withQueue(async (queue) => {
		await schedule(queue, timers);
		if (cancel)
			wanted -= await cancel(timers);
	});
	if (Date.now() > start)
		throw new Error(`${options.lead} ms were too short to schedule ${options.timers} timers`);
	await sleep(Math.max(0, start - Date.now() - 100));

	const before = await effort();
	const worker = new Worker("bench", async (job) => {
		const time = now();
		const timer = timers[Number(job.data)];

		if (timer?.payload !== job.data) {
			strange++;
			return;
		}
		if (time < timer.due)
			early++;
		if (!timer.fired)
			lateness.push(time - timer.due);
		timer.fired++;
		last = time;
	}, { connection: address(), concurrency: options.concurrency });

	while (lateness.length < wanted && now() < start + spread + PATIENCE)
		await sleep(5);
	const after = await effort();

	if (cancel)
		await sleep(1000); // what comes now is one too many
	await worker.close();
	const ends = timers.map((timer) => timer.fired + timer.cancelled);
	const lost = ends.filter((n) => n === 0).length;
	const twice = ends.filter((n) => n > 1).length;

	if (lost || twice || early || strange) {
		console.log(`of ${options.timers} timers: lost ${lost}, ` +
			`more than one end ${twice}, early ${early}, unknown ${strange}`);
		process.exitCode = 1;
	}
	return {
		lateness: lateness.sort((a, b) => a - b),
		behind: last - start - spread,
		per: (name) => (after[name] - before[name]) / options.timers,
	};
}

const quantile = (sorted, share) => sorted[Math.floor((sorted.length - 1) * share)];

async function measureBurst() {
	const { lateness } = await run(0);

	emit("fire", options.timers * 1000 / quantile(lateness, 1), "1/s");
}

async function measureLateness() {
	const result = await run(options.timers * 1000 / options.rate);

	emit("rate", options.rate, "1/s");
	emit("behind", result.behind, "ms");
	emit("lateness, p50", quantile(result.lateness, 0.5), "ms");
	emit("lateness, p99", quantile(result.lateness, 0.99), "ms");
	emit("lateness, max", quantile(result.lateness, 1), "ms");
	emit("round trips", result.per("trips"), "per timer");
	emit("commands", result.per("commands"), "per timer");
	emit("processor time of Redis", result.per("cpu"), "us per timer");
}

async function measureCheck() {
	await run(options.timers * 1000 / options.rate, async (timers) => {
		const some = timers.slice(0, timers.length / CANCELLED);

		await Promise.all(some.map(async (timer) => {
			await timer.job.remove();
			timer.cancelled++;
		}));
		return some.length;
	});
}

const measures = {
	schedule: measureSchedule,
	memory: measureMemory,
	idle: measureIdle,
	burst: measureBurst,
	lateness: measureLateness,
	check: measureCheck,
};

parseArguments(process.argv.slice(2));
measures[options.measure]().catch((error) => {
	console.error(error.message);
	process.exit(1);
});
