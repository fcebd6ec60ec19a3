// Attestations: all of them with every filter of the API.
import { html } from "../../lib/html.ts";
import { address, block, hash, recordLink, status, time } from "../components.ts";
import { filterForm, type List, listCard, listQuery } from "../list.ts";
import { definePage } from "../page.ts";

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
    { label: "Attester", cell: (each, page) => address(page, each.attester) },
    { label: "Made", cell: (each) => time(each.timestamp) },
    { label: "Block", kind: "number", cell: (each, page) => block(page, each.block_number) },
  ],
  empty: "There is no such attestation at this block.",
};

export const attestationsPage = definePage({
  path: "/attestations",
  nav: "Attestations",
  lists: [attestationList],
  filtered: attestationList,
  findExample: async () => ({}),
  load: (api, request) => api.list(attestationList, { query: listQuery(request) }),
  render: (data, page) => ({
    title: "Attestations",
    lead: "Statements about subjects. A schema says what a statement means; the chain has the hash of its data, and whether its attester has revoked it.",
    main: html`${filterForm(attestationList, page)}${listCard("By id", data, page, { isPaged: true })}`,
  }),
});
