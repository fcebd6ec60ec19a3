// The length of each attestation schema.
import type { Migration } from "../migrate.ts";

export const schemaLength: Migration = {
  version: 4,
  name: "how long schemas are",
  published: {
    checksum: "a68f1c4710fa6e3fb4a0118e47df717c4c02866218685b24228d75032bcf7e82",
    statements: "1bd44853e6f206aa435777a8a806a699dcbcc13e11113ae49a53463efaa8c2e3",
  },
  sql: `
      -- The length of a schema as text, so that a page can be cut at its size limit without reading the schemas.
      alter table attestation_schemas add column json_schema_bytes integer
        generated always as (octet_length(json_schema::text)) stored;
    `,
};
