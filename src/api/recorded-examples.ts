// Example requests that a local run with seed 1 serves; written by `npm run docs:api`.
import type { ApiExamples } from "../http/openapi/examples.ts";

export const recordedExamples: ApiExamples = {
  parameters: {
    block: "414",
    cursor: "WyIxIl0",
    min_block: "414",
    "x-min-block": "414",
  },
  operations: {
    getHead: {
      parameters: {
        block: "414",
      },
    },
    getAgent: {
      parameters: {
        agentId: "1",
        block: "29",
      },
    },
    listAgents: {
      parameters: {
        owner: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
        block: "29",
      },
    },
    listAgentDirectory: {
      parameters: {
        owner: "0xc223b10ef31d74b74ac4931da23c76dfd154e43f",
        revoked: "false",
        cursor: "WyIyNyJd",
        block: "395",
      },
    },
    listIntents: {
      parameters: {
        status: "filled",
        owner: "0x037bbe29c2766243a070a4b3cbf3891767097308",
        cursor: "WyIxNSJd",
        block: "327",
      },
    },
    getIntent: {
      parameters: {
        id: "15",
        block: "327",
      },
    },
    explainTransaction: {
      parameters: {
        hash: "0xc74497aebeb938fd76018626136665302cfc1d4e704a5d8d1fb2acf082d22314",
        block: "29",
      },
    },
    putIntentMetadata: {
      parameters: {
        id: "14",
      },
      body: {
        execution_target: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6",
        required_attestation_subject: "0xabababababababababababababababababababababababababababababababab",
        required_attestation_schema: "0x1111111111111111111111111111111111111111111111111111111111111111",
      },
    },
    reserveIntentMetadata: {
      parameters: {},
      body: {
        intent_hash: "0xc0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ff",
        owner: "0x037bbe29c2766243a070a4b3cbf3891767097308",
        execution_target: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6",
        required_attestation_subject: "0xabababababababababababababababababababababababababababababababab",
        required_attestation_schema: "0x1111111111111111111111111111111111111111111111111111111111111111",
      },
    },
    getIntentMetadataReservation: {
      parameters: {
        intentHash: "0xc0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ff",
        owner: "0x037bbe29c2766243a070a4b3cbf3891767097308",
      },
    },
    createOffchainBid: {
      parameters: {
        id: "14",
      },
      body: {
        solver: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
        amount_in: "1678725956962334073",
        amount_out: "5036177870",
        valid_until: "4102444800",
        execution_plan: {
          steps: ["swap"],
        },
        fee: "1000",
      },
    },
    selectOffchainBid: {
      parameters: {
        bidId: "1",
      },
    },
    listBids: {
      parameters: {
        id: "14",
        status: "selected",
        cursor:
          "WyItNTAzNjE3Nzg3MCIsIjE2Nzg3MjU5NTY5NjIzMzQwNzMiLCIxMDAwIiwiMTc5NDk0Mzk2NTAxNjkzNiIsIjEiLCIxIl0",
      },
    },
    listPolicies: {
      parameters: {
        address: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
        cursor: "WyJHVUFSRElBTiIsIiJd",
        block: "337",
      },
    },
    getAccount: {
      parameters: {
        address: "0xc7f5400616b277098f8702c29c0d358ab3982741",
      },
    },
    listSpendingWindows: {
      parameters: {
        address: "0xc7f5400616b277098f8702c29c0d358ab3982741",
        cursor:
          "WyJQQVlNRU5UX1BPTElDWSIsIjB4MDlmNzBlNzhmMmYzN2E1ZThkMjU3NTFhZTk5MjNmYTZkMzkyYmYzYzoweDIyNzliN2EwYTY3ZGIzNzI5OTZhNWZhYjUwZDkxZWFhNzNkMmViZTY6MHg5OGI0YWZjMmU4N2I3NGRlNmUzMmMxZDgxY2EyZmMyMzU5ODhhM2JlIl0",
        block: "182",
      },
    },
    listSessionKeys: {
      parameters: {
        address: "0xc7f5400616b277098f8702c29c0d358ab3982741",
        cursor: "WyIweDcwYjVmOTA1ZjA1OWRiYTc4ZjcyNDlkYTYwYTNmMmU4MTRkZjlhMTYiXQ",
        block: "333",
      },
    },
    preflight: {
      parameters: {},
      body: {
        account: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
        target: "0x8a791620dd6260079bf849dc5567adc3f2fdc318",
        value: "0",
        data: "0xa9059cbb0000000000000000000000003958cf1cf076864bb2c6c05172696fb64316aa3f00000000000000000000000000000000000000000000000000000000017d7840",
      },
    },
    listSolvers: {
      parameters: {
        active: "true",
        operator: "0x944228a5344695cbdf115847349bae377da4ecc2",
        cursor: "WyIyIl0",
        block: "154",
      },
    },
    getSolver: {
      parameters: {
        id: "1",
        block: "109",
      },
    },
    listAttestors: {
      parameters: {
        active: "true",
        operator: "0x039549ed6c3e4a6c2f60e7bd55e7f35c7a05cd6d",
        block: "161",
      },
    },
    getAttestor: {
      parameters: {
        id: "1",
        block: "28",
      },
    },
    listAttestations: {
      parameters: {
        schema: "0x4444444444444444444444444444444444444444444444444444444444444444",
        subject: "0x8b52f1b9f2692b85e021e40bebea1e82e8d12296c236477faf94e3a0cb561470",
        attester: "0xea9afe1b63c6a16b0fc1e1d24985caedb7ed4069",
        block: "32",
      },
    },
    getAttestation: {
      parameters: {
        id: "1",
        block: "32",
      },
    },
    publishAttestationSchema: {
      parameters: {},
      body: {
        name: "delivery_time",
        description: "How long a merchant takes to deliver.",
        json_schema: {
          type: "object",
          properties: {
            seconds: {
              type: "integer",
              minimum: 0,
            },
          },
          required: ["seconds"],
        },
      },
    },
    listAttestationSchemas: {
      parameters: {
        cursor:
          "WyIweDExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTEiXQ",
      },
    },
    getAttestationSchema: {
      parameters: {
        schemaHash: "0x8d950da61ff368e72c72fd34eb378d955bf60c1ef3f4e5f0e3e5142d50fe1114",
      },
    },
    listMerchants: {
      parameters: {
        owner: "0x09f70e78f2f37a5e8d25751ae9923fa6d392bf3c",
        active: "true",
        cursor: "WyIxIl0",
        block: "34",
      },
    },
    getMerchant: {
      parameters: {
        id: "1",
        block: "34",
      },
    },
    getMerchantReputation: {
      parameters: {
        id: "1",
      },
    },
    listServices: {
      parameters: {
        merchant_id: "1",
        capability_hash: "0xf70d32c644cc59d6896b01c3c9acb2e983c2573064ac441e96d30a465ea4a17e",
        active: "true",
        cursor: "WyIxIl0",
        block: "35",
      },
    },
    getService: {
      parameters: {
        id: "1",
        block: "35",
      },
    },
    listFacilitators: {
      parameters: {
        facilitator: "0x86ea961b98c8cc709c25091d2613f528e215306b",
        active: "true",
        cursor: "WyIxIl0",
        block: "197",
      },
    },
    getQuote: {
      parameters: {
        quoteHash: "0x9e1d818fa2d0dfa3139f438c4c1ac7441eee7a8f7a799595abb9b25c4d5ce016",
      },
    },
    getFacilitator: {
      parameters: {
        id: "1",
        block: "197",
      },
    },
    listReceipts: {
      parameters: {
        agent: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
        merchant_id: "1",
        service_numeric_id: "1",
        facilitator: "0xe3a969f8bd5b0b6cce3a76c0252ec9d316c2c6be",
        token: "0x8a791620dd6260079bf849dc5567adc3f2fdc318",
        quote_hash: "0x9e1d818fa2d0dfa3139f438c4c1ac7441eee7a8f7a799595abb9b25c4d5ce016",
        cursor: "WyI4Il0",
        block: "345",
      },
    },
    getReceipt: {
      parameters: {
        id: "8",
        block: "345",
      },
    },
    getDispute: {
      parameters: {
        id: "3",
        block: "275",
      },
    },
    listDisputes: {
      parameters: {
        receipt_id: "5",
        merchant_id: "1",
        opener: "0x6073284425768b638eeef5871f7baffb5f40dc32",
        status: "resolved",
        cursor: "WyIzIl0",
        block: "275",
      },
    },
    listTrustSignals: {
      parameters: {
        subject_type: 0,
        subject_id: "4",
        kind: 0,
        reporter: "0x319b27b6a164851afc20cdbf71adf499bdb45fb9",
        cursor: "WyIyOCJd",
        block: "394",
      },
    },
    getTotals: {
      parameters: {
        interval: "hour",
      },
    },
    getVolumes: {
      parameters: {
        interval: "hour",
        token: "0x8a791620dd6260079bf849dc5567adc3f2fdc318",
        merchant_id: "1",
        payment_rail: 2,
        facilitator: "0xe3a969f8bd5b0b6cce3a76c0252ec9d316c2c6be",
        from: "1794772800",
        to: "1794942000",
      },
    },
    getPaymentFlows: {
      parameters: {
        token: "0x8a791620dd6260079bf849dc5567adc3f2fdc318",
      },
    },
    publishCatalog: {
      parameters: {},
      body: {
        catalog_json: '{"name":"Weather","services":[{"id":"forecast","price":"10000"}]}',
        merchant_id: "1",
        service_id: "forecast",
      },
    },
    getCatalog: {
      parameters: {
        hash: "0x36f0f61f3105920b6e3c2cec8ecb85defdf7a24050e5f999f5b30d08abbc2cad",
      },
    },
    getCatalogMetadata: {
      parameters: {
        hash: "0x36f0f61f3105920b6e3c2cec8ecb85defdf7a24050e5f999f5b30d08abbc2cad",
      },
    },
    publishQuoteRequest: {
      parameters: {},
      body: {
        quote_request_json: '{"service":"forecast","place":"Lisbon"}',
        request_id: "request-1",
        merchant_id: "1",
        service_numeric_id: "1",
        agent: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
      },
    },
    getQuoteRequest: {
      parameters: {
        hash: "0xdbd74645638b859a5ce71f82f2ce4f9ff8931af291bfcad49b014a88e579ec2f",
      },
    },
    getQuoteRequestMetadata: {
      parameters: {
        hash: "0xdbd74645638b859a5ce71f82f2ce4f9ff8931af291bfcad49b014a88e579ec2f",
      },
    },
    publishQuoteResponse: {
      parameters: {},
      body: {
        quote_response_json: '{"price":"10000","token":"USDC"}',
        request_hash: "0xdbd74645638b859a5ce71f82f2ce4f9ff8931af291bfcad49b014a88e579ec2f",
        request_id: "request-1",
        merchant_id: "1",
        service_numeric_id: "1",
        agent: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
      },
    },
    getQuoteResponse: {
      parameters: {
        hash: "0x97e6cf94436b587dd00bf894e69ffb6d8406a7550703a36ffa6817806ec883bf",
      },
    },
    getQuoteResponseMetadata: {
      parameters: {
        hash: "0x97e6cf94436b587dd00bf894e69ffb6d8406a7550703a36ffa6817806ec883bf",
      },
    },
    registerWebhook: {
      parameters: {},
      body: {
        owner: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
        url: "http://127.0.0.1:9/hook",
        filter: {
          types: ["IntentSubmitted", "IntentFilled"],
        },
        finality: "safe",
        from: "head",
      },
    },
    manageWebhook: {
      parameters: {
        id: "wh_lyk6qkrVkdvrLg7dzIaM2w",
      },
      body: {
        action: "pause",
      },
    },
    listWebhooks: {
      parameters: {},
      body: {
        owner: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
      },
    },
    getWebhook: {
      parameters: {
        id: "wh_lyk6qkrVkdvrLg7dzIaM2w",
      },
    },
    readEvents: {
      parameters: {
        from: "genesis",
        type: "IntentSubmitted,IntentFilled",
      },
    },
    callMcp: {
      parameters: {},
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "get_reputation",
          arguments: {
            kind: "merchant",
            id: "1",
          },
        },
      },
    },
  },
};
