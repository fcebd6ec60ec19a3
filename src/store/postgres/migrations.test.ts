// Existing databases: the checksums that they hold are accepted, and an edited statement is detected.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { createLog } from "../../lib/log.ts";
import { type Database, openDatabase } from "./database.ts";
import { checksumOf, migrate } from "./migrate.ts";
import { migrations } from "./migrations.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });

// As databases hold them since these migrations were released: sha256 of the text, including its comments of then.
const RELEASED: readonly (readonly [name: string, checksum: string])[] = [
  ["the chain as it was read", "61b7830e44156a0a8ed891d6d77eaa9ab30377a4f5effd7f50d94dd8498817e4"],
  ["what people write", "a6f94bd538f32854c3ce4633bf4e4ec801111bc500008289014776e4ff53b834"],
  ["what people pay", "a60935bde770ae18cd79dadf8aca15768176e0c0132addb7b331a24249f7066c"],
  ["how long schemas are", "a68f1c4710fa6e3fb4a0118e47df717c4c02866218685b24228d75032bcf7e82"],
  ["what the facilitator sent", "065a35350d577ecf8600b6fd829131e42af899bd71debcf9fb1fb58d9ced170a"],
  [
    "identifiers stay with their payments",
    "a03f70366bd96967b991d145846347674dd55edfed54348fdbfe5d5bd285597a",
  ],
  ["how much people write", "b9a90905129a07df797fbcfeb18f4dc31228442ab94602f077b3dc1dd5f25844"],
  ["payments by block", "3365cbb1aa1ba09ec21cea9d8c015f0df647e0302ba57ecf09f6ad4d01203b85"],
  [
    "who holds a lock, and until when it counts as alive",
    "c50939b8159ed16f5c1e506e907632a05c7120fce8a0ee6e47ddbb95cd660f9b",
  ],
  ["what readers of events need", "c4076b38642b007a60eb0e1051c8b0b5978523e6bb592c47f0683be2c0984695"],
  ["where events are delivered to", "1c0b77e00cc6ea893faee49f92515c59e5206d60d81f527ab060fa4e5bfcaf68"],
  [
    "accounts and undone blocks of webhooks",
    "92c8886edf26c3955f9903495e6578457e5e15823b354e8bb77455276db9ca1a",
  ],
  ["reorgs and audits", "2dacb8a50e4e15112fb7431f5714aee746d7dcc7bdb20068b491b1f86a520a85"],
  ["figures of sold snapshots", "aea3e4e8a192be5a2d02b0b834f8e974ab37b3c7ecc79bc5807f1a1ec470e26e"],
  [
    "the order of the states of the index",
    "62a755065807c5cba2586e3d1c82252a21b295d369dc37b8e68164643e673ef9",
  ],
  ["whether stored snapshots were sold", "ab9c948547fffe0bdf35785fc170c9c4560d0baa0b47c7ee50d4e41724e6f3be"],
  ["amounts of settlements", "8b598c6aa3a95fe44b329ea3a5ee3562b757ffd7936c3ed59e621e0eef0468d2"],
  ["contract accounts that pay", "6b988f91a3aab6f3dbffdf626b878017cf46fd0dd7b07780cf2b0db4d077c482"],
  ["settled payments by payer", "d55952b96829a69b061f7503b8d82fb1352c09a3cba919276648d3ecb6b1068d"],
  ["unclear payments", "3368833db7be6660c81c1b8e96013112c71360e0d95f9ecd71de44145b19ba4e"],
  ["names of documents", "a44fbca69a6297a633e995315c26e53d77c76f24093eb8e6c3123ffa1d3850b9"],
  ["hex of either form", "5e02e3f91e22e424cbae00e5b73a8316eee3e66e79767562966db83d091b51d8"],
  ["packed logs", "31be68198248f5d185cf55b8673e8b1884c4902061af755b138485ed8aa76ce8"],
  ["payment channels", "c94a30678275bf0c07404c0564ba8e3c4e65ff048e923348cfd74a87b1344526"],
  ["signed refunds of channels", "d2aea433376f1a45248b3210a3ffff57385a31f058b378f2ebeaf383641cfc83"],
  ["sent claims of channels", "082decaeaff9925a5aaafaf07e54fcfa6d10947462cf5918dba3de86ce6f3692"],
  ["public vouchers of channels", "a1aedf9408110d86f7602867455b0cb8e97bb7dbb5f37a10c1c0e7cf39bd727e"],
  ["channels that others claim", "c647e0f85dc3a679b943d186d77071b92a0de005f51ae022186d5a0d8ca6262b"],
  ["names of purchases", "e8c3b2e03b475e762c39f5338a89ab0eae628aaa80a79af5d86f649f17a1d108"],
  ["limits and instructions of channels", "d1e54ae7fe534e7fe7e56bfd7329d6da6203488f01f695bac96bcf397d8769ff"],
  ["channels by payer", "94bc0fa3cb69ea06586093e85da560e13984d90045481d47b3b97f43d69dd339"],
  ["logs of wallets", "e90fe46de1f8489c97c1573eef732b7cfb5911e2bad93c8251df82b3245fabca"],
  ["free calls by channel", "0d618c7ffe85cface2de7d46e840cdc5174ce52d6221da2aafba68e371a8acee"],
  ["deposits of accounts", "21c1a937a19f30c674627b1e8b4381ffdb0cc3b9506c0781aa0dd799b9d29527"],
  ["short storage of responses", "ec007d194d90fe348d2db3fc13d64d15a0e910e221072941a1e58ddc34b85bf4"],
  ["purchases by end of storage", "528588bf5817f98fc25307cff3035f1d55fc0f6a588579cc5d1001efdb793e4d"],
  ["deposits by a facilitator", "f8f9e68d0c999a19804d1c8c3b8ba0984bead605646dfab6a6398395e8bc71c1"],
  ["sign-ins of payers", "21ebfb1bb4c1a4ab41d8ec09920500e2e2ff64ae2bb34de49f09f83a7fbb9404"],
  ["payments by request", "1b8b1223d8b657804c26e30a2af629c5211a05dae751f7d8b8ce5dd7474c40e6"],
  ["purchases by request", "6b1329d6a003f14e89b2e868d5acd38ed6390e66fa65babdf42bfc2bab34a7a2"],
  ["reverted claims of channels", "7ea452544bf2868666372aac32b134eb8346fab546d577c957d1dbb317d5d41e"],
];

let server: TestDatabase;
const open: Database[] = [];

beforeAll(async () => {
  server = await createTestDatabase();
});

afterAll(async () => {
  await Promise.all(open.map((database) => database.close()));
  await server.drop();
});

async function openSchema(schema: string): Promise<Database> {
  const options = { schema, poolMax: 1, log, applicationName: "test" };
  const database = await openDatabase({ connection: server.connection, ...options });
  open.push(database);
  return database;
}

/** Only what migrate() reads of a database that the previous version migrated. */
async function recordReleased(database: Database): Promise<void> {
  await database.query(
    "CREATE TABLE migrations (version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL)",
  );
  for (const [index, [name, checksum]] of RELEASED.entries()) {
    await database.query({
      text: "INSERT INTO migrations (version, name, checksum) VALUES ($1, $2, $3)",
      values: [index + 1, name, checksum],
    });
  }
}

describe("migrations", () => {
  it("accepts a database that the previous version migrated", async () => {
    const database = await openSchema("previous");
    await recordReleased(database);
    expect(await migrate(database, migrations.slice(0, RELEASED.length), log)).toBe(0);
  });

  it("records the checksums that the previous version accepts", async () => {
    const database = await openSchema("fresh");
    await migrate(database, migrations, log);
    const { rows } = await database.query<{ name: string; checksum: string }>(
      "SELECT name, checksum FROM migrations ORDER BY version",
    );
    expect(rows.slice(0, RELEASED.length).map(({ name, checksum }) => [name, checksum])).toEqual(RELEASED);
  });

  it.each(migrations)("detects an edited statement in migration $version ($name)", async (migration) => {
    const edited = { ...migration, sql: migration.sql.replace(/;\s*$/, " ;\n") };
    expect(edited.sql).not.toBe(migration.sql);
    expect(checksumOf(edited)).not.toBe(checksumOf(migration));
    const database = await openSchema(`edited_${migration.version}`);
    await recordReleased(database);
    const list = migrations.map((each) => (each === migration ? edited : each));
    await expect(migrate(database, list, log)).rejects.toMatchObject({
      code: "DATABASE_INCOMPATIBLE",
      message: expect.stringContaining(`Migration ${migration.version} (${migration.name}) is not the one`),
    });
  });

  it("detects a statement that was turned into a comment", () => {
    for (const migration of migrations) {
      const edited = { ...migration, sql: migration.sql.replace(/^( *)(create|alter|drop)/m, "$1-- $2") };
      expect(edited.sql).not.toBe(migration.sql);
      expect(checksumOf(edited)).not.toBe(checksumOf(migration));
    }
  });
});
