// Attestations: all of them with every filter of the API.
import { addressLink, block, hash, recordLink, status, time } from "../components.ts";
import type { List } from "../list.ts";
import { defineListPage } from "../list-page.ts";

export const attestationList: List = {
  route: "/attestations",
  key: "attestations",
  csv: "/attestations.csv",
  columns: [
    {
      label: "Attestation",
      cell: (each, page) => recordLink(page, "attestation", String(each.attestation_id)),
    },
    { label: "State", cell: (each) => status(each.revoked === true ? "REVOKED" : "ACTIVE") },
    { label: "Schema", cell: (each, page) => hash(page, each.schema_hash, "schema") },
    { label: "About", cell: (each, page) => hash(page, each.subject) },
    { label: "Attester", cell: (each, page) => addressLink(page, each.attester) },
    { label: "Made", cell: (each) => time(each.timestamp) },
    { label: "Block", kind: "number", cell: (each, page) => block(page, each.block_number) },
  ],
  empty: "There is no such attestation at this block.",
};

export const attestationsPage = defineListPage(attestationList, {
  title: "Attestations",
  lead: "Statements about subjects. A schema says what a statement means; the chain has the hash of its data, and whether its attester has revoked it.",
  order: "By id",
  example: {},
});
