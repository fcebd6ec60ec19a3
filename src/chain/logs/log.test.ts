// Logs of one response are parsed exactly as each alone, whatever they share with their neighbours.
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseLog, parseLogs } from "./log.ts";

const hash = (byte: string) => `0x${byte.repeat(32)}`;
// Few values, so that neighbours often share some; the last ones are in capitals, of another length, no hex or no text.
const aHash = fc.constantFrom(
  hash("ab"),
  hash("cd"),
  hash("AB"),
  `${hash("ab")}0`,
  hash("zz"),
  null,
  undefined,
);
const anAddress = fc.constantFrom(
  ...["ab", "cd", "AB"].map((byte) => `0x${byte.repeat(20)}`),
  "0x",
  undefined,
);
const valid = {
  address: `0x${"ab".repeat(20)}`,
  topics: [hash("ab")],
  data: "0x",
  blockNumber: "0x1",
  blockHash: hash("ab"),
  transactionHash: hash("ab"),
  transactionIndex: "0x0",
  logIndex: "0x0",
};
const logs = fc.array(
  fc
    .record(
      {
        address: anAddress,
        topics: fc.array(aHash, { maxLength: 2 }),
        blockHash: aHash,
        transactionHash: aHash,
        blockTimestamp: fc.constantFrom("0x1", null),
      },
      { requiredKeys: [] },
    )
    .map((changed) => ({ ...valid, ...changed })),
  { maxLength: 4 },
);

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return String(error);
  }
}

it("parses the logs of a response as it parses each of them alone", () => {
  fc.assert(
    fc.property(logs, (list) => {
      expect(outcomeOf(() => parseLogs(list))).toEqual(outcomeOf(() => list.map(parseLog)));
    }),
  );
});

it("rejects a log that leaves out what the log before it has", () => {
  for (const field of ["address", "blockHash", "transactionHash"]) {
    expect(() => parseLogs([valid, { ...valid, [field]: undefined }])).toThrow("of a log is not");
  }
  expect(() =>
    parseLogs([
      { ...valid, topics: [] },
      { ...valid, topics: [undefined] },
    ]),
  ).toThrow("a topic of a log");
});
