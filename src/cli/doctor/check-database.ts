// Checks a PostgreSQL server: version, settings, how far away it is, and whether its clock agrees.
import { createDoctorClient } from "./doctor-client.ts";
import { describeError, type Finding } from "./finding.ts";

const VERSION_MIN = 14;
const ROUND_TRIP_MS_MAX = 5;
const ROUND_TRIPS = 5;
const CLOCK_MS_MAX = 2_000;
// API, indexer, webhooks and portfolio with the pools that they have by default.
const CONNECTIONS_MIN = 50;

const SETTINGS = [
  "server_version_num",
  "server_encoding",
  "max_connections",
  "synchronous_commit",
  "wal_level",
  "fsync",
];

export async function checkDatabase(url: string, nowMs: () => number): Promise<Finding[]> {
  const { host, pathname } = new URL(url);
  const subject = `database ${pathname.slice(1)} at ${host || "a socket"}`;
  const found = (check: string, state: Finding["state"], text: string) => ({ subject, check, state, text });
  const client = createDoctorClient(url);
  try {
    await client.connect();
    const columns = SETTINGS.map((name) => `current_setting('${name}') AS ${name}`).join(", ");
    const { rows } = await client.query<Record<string, string>>(`SELECT ${columns}`);
    const settings = rows[0] ?? {};
    const times: number[] = [];
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
      const startedMs = performance.now();
      await client.query("SELECT 1");
      times.push(performance.now() - startedMs);
    }
    const clock = await client.query<{ ms: string }>(
      "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms",
    );
    const offMs = Math.round(nowMs() - Number(clock.rows[0]?.ms));
    return [
      ...judgeSettings(settings, found),
      judgeDistance(Math.min(...times), found),
      Math.abs(offMs) <= CLOCK_MS_MAX
        ? found("clock", "ok", "agrees with this machine")
        : found(
            "clock",
            "limited",
            `differs by ${(offMs / 1_000).toFixed(1)} s from this machine: payments may expire early; synchronize both`,
          ),
    ];
  } catch (error) {
    return [
      found("connection", "failed", `${describeError(error)}: no service starts with this DATABASE_URL`),
    ];
  } finally {
    await client.end().catch(() => undefined);
  }
}

type Found = (check: string, state: Finding["state"], text: string) => Finding;

function judgeSettings(settings: Readonly<Record<string, string>>, found: Found): Finding[] {
  const version = Math.floor(Number(settings.server_version_num) / 10_000);
  const isDurable = settings.synchronous_commit !== "off" && settings.fsync === "on";
  return [
    version < VERSION_MIN
      ? found("version", "failed", `PostgreSQL ${version}: Sextant needs ${VERSION_MIN} or newer`)
      : found("version", "ok", `PostgreSQL ${version}`),
    settings.server_encoding === "UTF8"
      ? found("encoding", "ok", "UTF8")
      : found("encoding", "failed", `${settings.server_encoding}: create the database with ENCODING 'UTF8'`),
    Number(settings.max_connections) < CONNECTIONS_MIN
      ? found(
          "connections",
          "limited",
          `max_connections is ${settings.max_connections}: several processes have too few; raise it to ${CONNECTIONS_MIN}`,
        )
      : found("connections", "ok", `max_connections is ${settings.max_connections}`),
    isDurable
      ? found("durability", "ok", "commits are on disk")
      : found(
          "durability",
          "limited",
          "fsync or synchronous_commit is off: after a crash a payment may be forgotten, and its buyer finds no response",
        ),
    settings.wal_level === "logical"
      ? found("replication", "ok", "wal_level is logical")
      : found(
          "replication",
          "limited",
          `wal_level is ${settings.wal_level}: followers of export --publication need logical`,
        ),
  ];
}

function judgeDistance(ms: number, found: Found): Finding {
  const text = `${ms.toFixed(1)} ms for a round trip`;
  return ms <= ROUND_TRIP_MS_MAX
    ? found("distance", "ok", text)
    : found(
        "distance",
        "limited",
        `${text}: reads and the indexer wait for each; run them next to the database`,
      );
}
