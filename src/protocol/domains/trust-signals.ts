// Trust signals about merchants, services, facilitators and agents. CommerceRegistry → trust_signals and counts.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { addAmounts, insert } from "../../schema/change.ts";
import { address, bytes32, uint16, uint63, uint256 } from "../../schema/column.ts";
import { defineDomain } from "../../schema/domain.ts";
import { addressPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineRollup, defineTable } from "../../schema/table.ts";
import { countActivity } from "./activity.ts";

export const TRUST_SUBJECTS = ["merchant", "service", "facilitator", "agent"] as const;
const KINDS = ["Verification", "Risk", "Compliance", "Fulfillment"] as const;

export const trustSignals = defineTable(
  "trust_signals",
  {
    signal_id: uint256,
    subject_type: uint16,
    subject_id: uint256,
    kind: uint16,
    reporter: address,
    signal_hash: bytes32,
  },
  {
    key: ["signal_id"],
    countsUp: true,
    index: [
      ["subject_type", "subject_id", "signal_id"],
      ["subject_type", "signal_id"],
      ["subject_id", "signal_id"],
      ["kind", "signal_id"],
      ["reporter", "signal_id"],
    ],
  },
);

export const signalCounts = defineRollup(
  "signal_counts",
  { kind: uint16, signals: uint63 },
  { key: ["kind"] },
);

export const subjectSignalCounts = defineRollup(
  "subject_signal_counts",
  { subject_type: uint16, subject_id: uint256, kind: uint16, signals: uint63 },
  { key: ["subject_type", "subject_id", "kind"], history: "full" },
);

export const trustSignalsDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [trustSignals, signalCounts, subjectSignalCounts],
  events: {
    TrustSignalRecorded: {
      fold: ({ args, timestamp }) => {
        const subject = { subject_type: args.subjectType, subject_id: args.subjectId, kind: args.kind };
        return [
          insert(trustSignals, {
            signal_id: args.signalId,
            ...subject,
            reporter: args.reporter,
            signal_hash: args.signalHash,
          }),
          addAmounts(signalCounts, { kind: args.kind }, { signals: 1n }),
          addAmounts(subjectSignalCounts, subject, { signals: 1n }),
          ...countActivity(timestamp, { trust_signals: 1n }),
        ];
      },
      explain: ({ args }) => {
        const kind = TRUST_SUBJECTS[args.subjectType];
        const subject = kind === undefined ? `#${args.subjectId}` : recordPart(kind, args.subjectId);
        return sentence`${KINDS[args.kind] ?? `Kind ${args.kind}`} signal #${String(args.signalId)} about ${kind ?? `subject type ${args.subjectType}`} ${subject} recorded by ${addressPart(args.reporter)}`;
      },
    },
  },
});
