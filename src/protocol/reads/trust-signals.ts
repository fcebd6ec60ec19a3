// Trust signals as answers: /trust-signals.

import { addressParameter, enumParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, immutableFilter } from "../../schema/reads/list.ts";
import { columnFields, defineRecord } from "../../schema/reads/record.ts";
import { trustSignals } from "../domains/trust-signals.ts";

const signal = defineRecord({
  name: "TrustSignal",
  table: trustSignals,
  fields: columnFields(trustSignals, [
    "signal_id",
    "subject_type",
    "subject_id",
    "kind",
    "reporter",
    "signal_hash",
    "block_number",
  ]),
});

const numbered = enumParameter(["0", "1", "2", "3"]);
const SUBJECT_TYPES = "0 merchants, 1 services, 2 facilitators, 3 agents";
const KINDS = "0 verification, 1 risk, 2 compliance, 3 fulfillment";

export const trustSignalReads = [
  defineList("/trust-signals", signal, {
    operationId: "listTrustSignals",
    summary: "Trust signals, newest first",
    tag: "Commerce",
    key: "trust_signals",
    order: { direction: "desc", keys: [{ sql: "t.signal_id", cast: "numeric" }] },
    filters: {
      subject_type: immutableFilter(trustSignals, "subject_type", numbered, `Only about: ${SUBJECT_TYPES}.`),
      subject_id: immutableFilter(
        trustSignals,
        "subject_id",
        uintParameter(),
        "Only about the subject of this id.",
      ),
      kind: immutableFilter(trustSignals, "kind", numbered, `Only of this kind: ${KINDS}.`),
      reporter: immutableFilter(trustSignals, "reporter", addressParameter, "Only by this reporter."),
    },
  }),
];
