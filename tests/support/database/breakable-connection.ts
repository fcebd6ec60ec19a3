// A connection to the test database that can be cut, silenced or read-only as a standby's is, and repaired.
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Secret } from "../../../src/lib/secret.ts";
import type { DatabaseConnection } from "../../../src/store/postgres/connection.ts";

export type BreakableConnection = {
  readonly connection: DatabaseConnection;
  /** Ends every connection and rejects new ones. */
  cut(): void;
  /** Keeps connections and accepts new ones, but drops all data. */
  silence(): void;
  mend(): void;
  /** Ends the read-only sessions of a standby; new ones accept writes. */
  promote(): void;
  close(): Promise<void>;
};

type BreakableOptions = {
  /** Sessions are read-only until `promote`, so that clients cannot tell the server from a standby. */
  readonly isStandby?: boolean;
};

export async function openBreakableConnection(
  target: DatabaseConnection,
  options: BreakableOptions = {},
): Promise<BreakableConnection> {
  let state: "working" | "cut" | "silenced" = "working";
  let isStandby = options.isStandby ?? false;
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((near) => {
    if (state === "cut") {
      near.destroy();
      return;
    }
    const far = connect(target);
    const pair = [near, far] as const;
    pairs.add(pair);
    let rewrite = isStandby ? startReadOnly : null;
    const relay = (from: Socket, to: Socket) => {
      from.on("data", (chunk) => {
        if (state !== "working") return;
        to.write(from === near && rewrite ? rewrite(chunk) : chunk);
        if (from === near) rewrite = null;
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        pairs.delete(pair);
        to.destroy();
      });
    };
    relay(near, far);
    relay(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  const endAll = () => {
    for (const [near] of pairs) near.destroy();
  };
  return {
    connection: { url: new Secret(relayUrl(target, address.port)) },
    cut() {
      state = "cut";
      endAll();
    },
    silence() {
      state = "silenced";
    },
    mend() {
      // Data dropped meanwhile is lost, so existing connections are unusable.
      endAll();
      state = "working";
    },
    promote() {
      isStandby = false;
      endAll();
    },
    async close() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The start-up message of a session with one setting more; the driver sends it in one piece. */
function startReadOnly(message: Buffer): Buffer {
  // Ahead of the zero that ends the list of settings.
  const settings = message.subarray(4, -1);
  const added = Buffer.concat([settings, Buffer.from("default_transaction_read_only\0on\0\0")]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(added.length + 4);
  return Buffer.concat([length, added]);
}

function connect(target: DatabaseConnection): Socket {
  if ("host" in target) return createConnection(join(target.host, ".s.PGSQL.5432"));
  const { hostname, port } = new URL(target.url.reveal());
  return createConnection(Number(port || 5432), hostname);
}

function relayUrl(target: DatabaseConnection, port: number): string {
  if ("host" in target)
    return `postgres://${target.user}@127.0.0.1:${port}/${target.database}?sslmode=disable`;
  const url = new URL(target.url.reveal());
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return url.toString();
}
