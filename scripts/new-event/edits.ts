// A made-up event with its table and endpoint: every edit by hand that it takes, file by file.
import { toEventSelector, toFunctionSelector } from "viem";

/** Inserts `text` before the only occurrence of `before`. */
type Insertion = { readonly before: string; readonly text: string };

export type EventEdit = {
  readonly file: string;
  readonly insertions: readonly Insertion[];
  /**
   * The test that fails without the edit: a test file, or null for the contracts, which the event itself consists of.
   */
  readonly forcedBy: string | null;
};

const EVENT =
  "event MerchantEndorsed(uint256 indexed endorsementId, uint256 indexed merchantId, address indexed endorser, bytes32 noteHash)";
const DECLARATION = EVENT.slice("event ".length);

/** The event MerchantEndorsed of CommerceRegistry, the table `endorsements` and GET /endorsements. */
export const NEW_EVENT_EDITS: readonly EventEdit[] = [
  {
    file: "contracts/src/interfaces/ICommerceRegistry.sol",
    forcedBy: null,
    insertions: [
      {
        before: "    /// @notice A merchant was registered.\n",
        text: `    /// @notice One endorsement.
    /// @param merchantId Merchant that is endorsed.
    /// @param endorser Account that endorsed it.
    /// @param noteHash Commitment to the reason.
    struct Endorsement {
        uint256 merchantId;
        address endorser;
        bytes32 noteHash;
    }

`,
      },
      {
        before: "    /// @notice The caller may not do this.\n    error Unauthorized();",
        text: `    /// @notice A merchant was endorsed.
    /// @param endorsementId Identifier of the endorsement.
    /// @param merchantId Merchant that is endorsed.
    /// @param endorser Account that endorsed it.
    /// @param noteHash Commitment to the reason.
    ${EVENT};

`,
      },
      {
        before: "    /// @notice Reads a merchant; reverts",
        text: `    /// @notice Endorses a merchant in the caller's name.
    /// @param merchantId Merchant to endorse.
    /// @param noteHash Commitment to the reason.
    /// @return endorsementId Identifier of the endorsement.
    function endorseMerchant(uint256 merchantId, bytes32 noteHash) external returns (uint256 endorsementId);

    /// @notice Reads an endorsement.
    /// @param endorsementId Identifier of the endorsement.
    /// @return The endorsement, all zero when there is none.
    function getEndorsement(uint256 endorsementId) external view returns (Endorsement memory);

`,
      },
    ],
  },
  {
    file: "contracts/src/CommerceRegistry.sol",
    forcedBy: null,
    insertions: [
      {
        before: "    mapping(uint256 merchantId => Merchant) private _merchants;\n",
        text: `    uint256 private _lastEndorsementId;
    mapping(uint256 endorsementId => Endorsement) private _endorsements;
`,
      },
      {
        before: "    /// @inheritdoc ICommerceRegistry\n    function getMerchant(",
        text: `    /// @inheritdoc ICommerceRegistry
    function endorseMerchant(uint256 merchantId, bytes32 noteHash) external returns (uint256 endorsementId) {
        endorsementId = ++_lastEndorsementId;
        _endorsements[endorsementId] = Endorsement({
            merchantId: merchantId,
            endorser: msg.sender,
            noteHash: noteHash
        });
        emit MerchantEndorsed(endorsementId, merchantId, msg.sender, noteHash);
    }

    /// @inheritdoc ICommerceRegistry
    function getEndorsement(uint256 endorsementId) external view returns (Endorsement memory) {
        return _endorsements[endorsementId];
    }

`,
      },
    ],
  },
  {
    file: "contracts/interface/protocol-interface.ts",
    forcedBy: "contracts/interface/compiled-interface.test.ts",
    insertions: [
      {
        before: '      "MerchantRegistered(',
        text: `      "${DECLARATION}":\n        "${toEventSelector(EVENT)}",\n`,
      },
      {
        before: '      "getMerchant(uint256)"',
        text:
          `      "endorseMerchant(uint256,bytes32)": ["${toFunctionSelector("endorseMerchant(uint256,bytes32)")}", "write"],\n` +
          `      "getEndorsement(uint256)": ["${toFunctionSelector("getEndorsement(uint256)")}", "read"],\n`,
      },
      {
        before: '  "CommerceRegistry.getMerchant"',
        text: '  "CommerceRegistry.getEndorsement": "uint256 merchantId, address endorser, bytes32 noteHash",\n',
      },
    ],
  },
  {
    file: "contracts/test/commerce-quotes.test.ts",
    forcedBy: "contracts/test/commerce-quotes.test.ts",
    insertions: [{ before: '"recordTrustSignal", "registerFacilitator"', text: '"endorseMerchant", ' }],
  },
  {
    file: "packages/simulator/transactions/trust-signals.ts",
    forcedBy: "packages/simulator/simulator.integration.test.ts",
    insertions: [
      {
        before: "export async function recordTrustSignal(",
        text: `export async function endorseMerchant(
  world: World,
  endorser: Actor,
  merchantId: bigint,
  noteHash: Hex,
): Promise<bigint> {
  const to = world.contracts.CommerceRegistry;
  const data = encodeFunctionData({
    abi: commerceRegistryAbi,
    functionName: "endorseMerchant",
    args: [merchantId, noteHash],
  });
  return decodeReceiptEvent(await endorser.send({ to, data }), to, commerceRegistryAbi, "MerchantEndorsed")
    .endorsementId;
}

`,
      },
    ],
  },
  {
    file: "packages/simulator/actions/catalog.ts",
    forcedBy: "packages/simulator/simulator.integration.test.ts",
    insertions: [
      { before: "recordTrustSignal, SIGNAL_KINDS, SIGNAL_SUBJECTS }", text: "endorseMerchant, " },
      {
        before: '  {\n    name: "report a trust signal",',
        text: `  {
    name: "endorse a merchant",
    weight: 3,
    prepare: (turn) => {
      const { world, random, accounts } = turn;
      const [endorser, noteHash] = [random.pick(accounts.owners), random.bytes32()];
      return () => endorseMerchant(world, endorser, someId(turn, "merchant"), noteHash);
    },
  },
`,
      },
    ],
  },
  {
    file: "src/protocol/domains/merchants.ts",
    forcedBy: "src/protocol/domains.test.ts",
    insertions: [
      {
        before: "export const merchantsDomain",
        text: `export const endorsements = defineTable(
  "endorsements",
  { endorsement_id: uint256, merchant_id: uint256, endorser: address, note_hash: bytes32 },
  { key: ["endorsement_id"], index: [["merchant_id", "endorsement_id"]] },
);

`,
      },
      { before: "    merchants,\n    commerceTotals,", text: "    endorsements,\n" },
      {
        before: "    MerchantRegistered: {\n",
        text: `    MerchantEndorsed: {
      fold: ({ args }) => [
        insert(endorsements, {
          endorsement_id: args.endorsementId,
          merchant_id: args.merchantId,
          endorser: args.endorser,
          note_hash: args.noteHash,
        }),
      ],
      explain: ({ args }) =>
        sentence\`Merchant \${recordPart("merchant", args.merchantId)} endorsed by \${addressPart(args.endorser)}\`,
    },
`,
      },
    ],
  },
  {
    file: "src/protocol/reads/commerce.ts",
    forcedBy: "tests/api/reads.test.ts",
    insertions: [
      {
        before: 'import { facilitators, merchants, services } from "../domains/merchants.ts";',
        text: 'import { endorsements } from "../domains/merchants.ts";\n',
      },
      {
        before: "export const commerceReads = [\n",
        text: `const endorsement = defineRecord({
  name: "Endorsement",
  table: endorsements,
  fields: tableFields(endorsements),
});

const endorsementReads = [
  defineList("/endorsements", endorsement, {
    operationId: "listEndorsements",
    summary: "Endorsements, newest first",
    description: "Endorsements of all merchants, or of one.",
    tag: "Commerce",
    key: "endorsements",
    order: { direction: "desc", keys: [{ sql: "t.endorsement_id", cast: "numeric" }] },
    filters: {
      merchant_id: equalsFilter("merchant_id", uintParameter(), "Filter by merchant."),
    },
  }),
];

`,
      },
      { before: "  ...merchantReads,\n", text: "  ...endorsementReads,\n" },
    ],
  },
  {
    file: "src/audit/tables/commerce.ts",
    forcedBy: "src/audit/table.test.ts",
    insertions: [
      {
        before: 'import { facilitators, merchants, services } from "../../protocol/domains/merchants.ts";',
        text: 'import { endorsements } from "../../protocol/domains/merchants.ts";\n',
      },
      {
        before: "  defineTableAudit(merchants, registry, {",
        text: `  defineTableAudit(endorsements, registry, {
    ids: "endorsement_id",
    createdBy: { MerchantEndorsed: ["endorsement_id"] },
    views: {
      getEndorsement: {
        args: ["endorsement_id"],
        unknown: ({ endorser }) => endorser === ZERO_ADDRESS,
        columns: ["merchant_id", "endorser", "note_hash"],
      },
    },
  }),
`,
      },
    ],
  },
  {
    file: "tests/reference-model/commerce-rules.ts",
    forcedBy: "tests/reference-model/index-equals-model.test.ts",
    insertions: [
      {
        before: '  "CommerceRegistry.TrustSignalRecorded"',
        text: `  "CommerceRegistry.MerchantEndorsed": (model, event) => {
    const endorsement_id = eventArgument(event, "endorsementId");
    const row = {
      endorsement_id,
      merchant_id: eventArgument(event, "merchantId"),
      endorser: eventArgument(event, "endorser"),
      note_hash: eventArgument(event, "noteHash"),
    };
    model.put("endorsements", endorsement_id, row, event);
  },
`,
      },
    ],
  },
  {
    file: "tests/api/record-shapes.ts",
    forcedBy: "tests/api/reads.test.ts",
    insertions: [
      {
        before: '  "/disputes": {\n',
        text: `  "/endorsements": {
    key: "endorsements",
    id: "endorsement_id",
    newestFirst: true,
    shape: {
      endorsement_id: "number",
      merchant_id: "number",
      endorser: "address",
      note_hash: "hash",
      block_number: "number",
    },
  },
`,
      },
    ],
  },
];
