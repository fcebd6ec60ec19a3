// Samples a server with one cheap statement: its role, its write-ahead log, and the state of the index there.
import type { QueryRunner } from "../postgres/session.ts";
import type { IndexState } from "./read-source.ts";

export type ServerSample = {
  readonly isReplica: boolean;
  /** Tells servers apart, and runs of one server: when it started, to the microsecond. */
  readonly server: string;
  /** Written on a primary, replayed on a replica; everything committed before it can be read there. */
  readonly position: bigint;
  /** Null if nothing is indexed. */
  readonly state: IndexState | null;
};

const SAMPLE = {
  name: "server_sample",
  text: `select pg_is_in_recovery() as replica, pg_postmaster_start_time()::text as server,
      coalesce(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0'::pg_lsn, 0)::text as position,
      h.revision::text, h.block_number::text as number, encode(h.block_hash, 'hex') as hash
    from (values (1)) one left join checkpoint h on true`,
};

type SampleRow = {
  readonly replica: boolean;
  readonly server: string;
  readonly position: string;
  readonly revision: string | null;
  readonly number: string | null;
  readonly hash: string | null;
};

export async function sampleServer(session: QueryRunner): Promise<ServerSample> {
  const { rows } = await session.query<SampleRow>(SAMPLE);
  const [row] = rows;
  if (!row) throw new Error("a server has no sample");
  const { revision, number, hash } = row;
  const isIndexed = revision !== null && number !== null && hash !== null;
  return {
    isReplica: row.replica,
    server: row.server,
    position: BigInt(row.position),
    state: isIndexed ? { revision: BigInt(revision), number: BigInt(number), hash: `0x${hash}` } : null,
  };
}

// The identifier is made by initdb and copied with the data; a database keeps its number on every copy.
const CLUSTER = {
  text: `select system_identifier::text || '/' || oid::text as cluster
    from pg_control_system(), pg_database where datname = current_database()`,
};

/** Equal on the servers that have the same database as copies of each other, and on no others. */
export async function readCluster(session: QueryRunner): Promise<string> {
  const { rows } = await session.query<{ cluster: string }>(CLUSTER);
  const [row] = rows;
  if (!row) throw new Error("a server does not identify itself");
  return row.cluster;
}

// A server that is alive responds within milliseconds; one that vanished never does.
const SAMPLE_MS_MAX = 2_000;

/** Rejects after two seconds, whatever the connection does. */
export async function withinSampleTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the server did not respond in time")), SAMPLE_MS_MAX);
  });
  // The loser may fail later, when no one waits for it.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
