// Generated from the protocol's contracts by contracts/compile; do not edit.
export const storageLayouts = {
 "compiler": "0.8.37",
 "sourceHash": "7a65ae80a919fdb5ef6117e64d2e446454d73768dd948b1a536f034e9e4c9a84",
 "contracts": {
  "AgentRegistry": {
   "source": "src/AgentRegistry.sol",
   "codeHash": "0x0043e5d6226e9adef0f577d6de28696f842a58654bc4aa60aecf17f94894c6ba",
   "immutables": [],
   "variables": [
    {
     "name": "_lastAgentId",
     "slot": "0",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_agents",
     "slot": "1",
     "offset": 0,
     "type": "mapping(uint256 => struct IAgentRegistry.AgentRecord)"
    },
    {
     "name": "_agentsByOwner",
     "slot": "2",
     "offset": 0,
     "type": "mapping(address => uint256[])"
    }
   ],
   "types": {
    "address": {
     "encoding": "inplace",
     "bytes": 20
    },
    "bool": {
     "encoding": "inplace",
     "bytes": 1
    },
    "bytes": {
     "encoding": "bytes",
     "bytes": 32
    },
    "bytes32": {
     "encoding": "inplace",
     "bytes": 32
    },
    "mapping(address => uint256[])": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "uint256[]"
    },
    "mapping(uint256 => struct IAgentRegistry.AgentRecord)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct IAgentRegistry.AgentRecord"
    },
    "string": {
     "encoding": "bytes",
     "bytes": 32
    },
    "struct IAgentRegistry.AgentRecord": {
     "encoding": "inplace",
     "bytes": 160,
     "members": [
      {
       "name": "owner",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "metadataURI",
       "slot": "1",
       "offset": 0,
       "type": "string"
      },
      {
       "name": "pubkey",
       "slot": "2",
       "offset": 0,
       "type": "bytes"
      },
      {
       "name": "capabilitiesHash",
       "slot": "3",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "revoked",
       "slot": "4",
       "offset": 0,
       "type": "bool"
      }
     ]
    },
    "uint256": {
     "encoding": "inplace",
     "bytes": 32
    },
    "uint256[]": {
     "encoding": "dynamic_array",
     "bytes": 32,
     "base": "uint256"
    }
   }
  },
  "AttestationRegistry": {
   "source": "src/AttestationRegistry.sol",
   "codeHash": "0x54fdd60cafba75b1fac9c0a1b28d737c1f15e11cc485139c1f6e4ff64b7ab422",
   "immutables": [],
   "variables": [
    {
     "name": "_lastId",
     "slot": "0",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_attestations",
     "slot": "1",
     "offset": 0,
     "type": "mapping(uint256 => struct IAttestationRegistry.Attestation)"
    },
    {
     "name": "_idsBySubject",
     "slot": "2",
     "offset": 0,
     "type": "mapping(bytes32 => uint256[])"
    }
   ],
   "types": {
    "address": {
     "encoding": "inplace",
     "bytes": 20
    },
    "bool": {
     "encoding": "inplace",
     "bytes": 1
    },
    "bytes32": {
     "encoding": "inplace",
     "bytes": 32
    },
    "mapping(bytes32 => uint256[])": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "bytes32",
     "value": "uint256[]"
    },
    "mapping(uint256 => struct IAttestationRegistry.Attestation)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct IAttestationRegistry.Attestation"
    },
    "struct IAttestationRegistry.Attestation": {
     "encoding": "inplace",
     "bytes": 160,
     "members": [
      {
       "name": "attester",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "schema",
       "slot": "1",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "subject",
       "slot": "2",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "dataHash",
       "slot": "3",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "timestamp",
       "slot": "4",
       "offset": 0,
       "type": "uint64"
      },
      {
       "name": "revoked",
       "slot": "4",
       "offset": 8,
       "type": "bool"
      }
     ]
    },
    "uint256": {
     "encoding": "inplace",
     "bytes": 32
    },
    "uint256[]": {
     "encoding": "dynamic_array",
     "bytes": 32,
     "base": "uint256"
    },
    "uint64": {
     "encoding": "inplace",
     "bytes": 8
    }
   }
  },
  "AttestorRegistry": {
   "source": "src/AttestorRegistry.sol",
   "codeHash": "0xeeec7de653acc553e75b7956ecfa37668831c92cb545f36310a606ddd0821019",
   "immutables": [],
   "variables": [
    {
     "name": "_lastAttestorId",
     "slot": "0",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_attestors",
     "slot": "1",
     "offset": 0,
     "type": "mapping(uint256 => struct IAttestorRegistry.AttestorRecord)"
    },
    {
     "name": "_attestorIdOf",
     "slot": "2",
     "offset": 0,
     "type": "mapping(address => uint256)"
    }
   ],
   "types": {
    "address": {
     "encoding": "inplace",
     "bytes": 20
    },
    "bool": {
     "encoding": "inplace",
     "bytes": 1
    },
    "bytes32": {
     "encoding": "inplace",
     "bytes": 32
    },
    "mapping(address => uint256)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "uint256"
    },
    "mapping(uint256 => struct IAttestorRegistry.AttestorRecord)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct IAttestorRegistry.AttestorRecord"
    },
    "string": {
     "encoding": "bytes",
     "bytes": 32
    },
    "struct IAttestorRegistry.AttestorRecord": {
     "encoding": "inplace",
     "bytes": 192,
     "members": [
      {
       "name": "operator",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "metadataURI",
       "slot": "1",
       "offset": 0,
       "type": "string"
      },
      {
       "name": "schemasHash",
       "slot": "2",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "attestations",
       "slot": "3",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "revokedAttestations",
       "slot": "4",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "active",
       "slot": "5",
       "offset": 0,
       "type": "bool"
      }
     ]
    },
    "uint256": {
     "encoding": "inplace",
     "bytes": 32
    }
   }
  },
  "CommerceRegistry": {
   "source": "src/CommerceRegistry.sol",
   "codeHash": "0x019ff113110149cbf8993c6b0c0e17aaccb7ddbaf93f19b86b216ffe4cc04f6a",
   "immutables": [],
   "variables": [
    {
     "name": "_lastMerchantId",
     "slot": "0",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_lastServiceId",
     "slot": "1",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_lastFacilitatorId",
     "slot": "2",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_lastReceiptId",
     "slot": "3",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_lastDisputeId",
     "slot": "4",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_lastSignalId",
     "slot": "5",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_merchants",
     "slot": "6",
     "offset": 0,
     "type": "mapping(uint256 => struct ICommerceRegistry.Merchant)"
    },
    {
     "name": "_services",
     "slot": "7",
     "offset": 0,
     "type": "mapping(uint256 => struct ICommerceRegistry.Service)"
    },
    {
     "name": "_serviceIdTaken",
     "slot": "8",
     "offset": 0,
     "type": "mapping(uint256 => mapping(bytes32 => bool))"
    },
    {
     "name": "_facilitators",
     "slot": "9",
     "offset": 0,
     "type": "mapping(uint256 => struct ICommerceRegistry.Facilitator)"
    },
    {
     "name": "_facilitatorIdOf",
     "slot": "10",
     "offset": 0,
     "type": "mapping(address => uint256)"
    },
    {
     "name": "_quotes",
     "slot": "11",
     "offset": 0,
     "type": "mapping(bytes32 => struct ICommerceRegistry.Quote)"
    },
    {
     "name": "_receipts",
     "slot": "12",
     "offset": 0,
     "type": "mapping(uint256 => struct ICommerceRegistry.Receipt)"
    },
    {
     "name": "_disputes",
     "slot": "13",
     "offset": 0,
     "type": "mapping(uint256 => struct ICommerceRegistry.Dispute)"
    },
    {
     "name": "_signals",
     "slot": "14",
     "offset": 0,
     "type": "mapping(uint256 => struct ICommerceRegistry.TrustSignal)"
    }
   ],
   "types": {
    "address": {
     "encoding": "inplace",
     "bytes": 20
    },
    "bool": {
     "encoding": "inplace",
     "bytes": 1
    },
    "bytes32": {
     "encoding": "inplace",
     "bytes": 32
    },
    "enum ICommerceRegistry.DisputeStatus": {
     "encoding": "inplace",
     "bytes": 1
    },
    "enum ICommerceRegistry.PaymentRail": {
     "encoding": "inplace",
     "bytes": 1
    },
    "enum ICommerceRegistry.SignalKind": {
     "encoding": "inplace",
     "bytes": 1
    },
    "enum ICommerceRegistry.SignalSubject": {
     "encoding": "inplace",
     "bytes": 1
    },
    "mapping(address => uint256)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "uint256"
    },
    "mapping(bytes32 => bool)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "bytes32",
     "value": "bool"
    },
    "mapping(bytes32 => struct ICommerceRegistry.Quote)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "bytes32",
     "value": "struct ICommerceRegistry.Quote"
    },
    "mapping(uint256 => mapping(bytes32 => bool))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "mapping(bytes32 => bool)"
    },
    "mapping(uint256 => struct ICommerceRegistry.Dispute)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct ICommerceRegistry.Dispute"
    },
    "mapping(uint256 => struct ICommerceRegistry.Facilitator)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct ICommerceRegistry.Facilitator"
    },
    "mapping(uint256 => struct ICommerceRegistry.Merchant)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct ICommerceRegistry.Merchant"
    },
    "mapping(uint256 => struct ICommerceRegistry.Receipt)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct ICommerceRegistry.Receipt"
    },
    "mapping(uint256 => struct ICommerceRegistry.Service)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct ICommerceRegistry.Service"
    },
    "mapping(uint256 => struct ICommerceRegistry.TrustSignal)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct ICommerceRegistry.TrustSignal"
    },
    "string": {
     "encoding": "bytes",
     "bytes": 32
    },
    "struct ICommerceRegistry.Dispute": {
     "encoding": "inplace",
     "bytes": 160,
     "members": [
      {
       "name": "receiptId",
       "slot": "0",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "opener",
       "slot": "1",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "reasonHash",
       "slot": "2",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "status",
       "slot": "3",
       "offset": 0,
       "type": "enum ICommerceRegistry.DisputeStatus"
      },
      {
       "name": "resolutionHash",
       "slot": "4",
       "offset": 0,
       "type": "bytes32"
      }
     ]
    },
    "struct ICommerceRegistry.Facilitator": {
     "encoding": "inplace",
     "bytes": 128,
     "members": [
      {
       "name": "facilitator",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "metadataURI",
       "slot": "1",
       "offset": 0,
       "type": "string"
      },
      {
       "name": "metadataHash",
       "slot": "2",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "active",
       "slot": "3",
       "offset": 0,
       "type": "bool"
      }
     ]
    },
    "struct ICommerceRegistry.Merchant": {
     "encoding": "inplace",
     "bytes": 160,
     "members": [
      {
       "name": "owner",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "payoutAddress",
       "slot": "1",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "metadataURI",
       "slot": "2",
       "offset": 0,
       "type": "string"
      },
      {
       "name": "metadataHash",
       "slot": "3",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "active",
       "slot": "4",
       "offset": 0,
       "type": "bool"
      }
     ]
    },
    "struct ICommerceRegistry.Quote": {
     "encoding": "inplace",
     "bytes": 448,
     "members": [
      {
       "name": "merchantId",
       "slot": "0",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "serviceNumericId",
       "slot": "1",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "agent",
       "slot": "2",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "token",
       "slot": "3",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "facilitator",
       "slot": "4",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "amount",
       "slot": "5",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "paymentRail",
       "slot": "6",
       "offset": 0,
       "type": "enum ICommerceRegistry.PaymentRail"
      },
      {
       "name": "protocolFeeBps",
       "slot": "6",
       "offset": 1,
       "type": "uint16"
      },
      {
       "name": "protocolFeeAmount",
       "slot": "7",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "expiresAt",
       "slot": "8",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "paymentNonce",
       "slot": "9",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "resourceHash",
       "slot": "10",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "termsHash",
       "slot": "11",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "x402PayloadHash",
       "slot": "12",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "settled",
       "slot": "13",
       "offset": 0,
       "type": "bool"
      }
     ]
    },
    "struct ICommerceRegistry.Receipt": {
     "encoding": "inplace",
     "bytes": 384,
     "members": [
      {
       "name": "quoteHash",
       "slot": "0",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "agent",
       "slot": "1",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "merchantId",
       "slot": "2",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "serviceNumericId",
       "slot": "3",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "token",
       "slot": "4",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "amount",
       "slot": "5",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "paymentRail",
       "slot": "6",
       "offset": 0,
       "type": "enum ICommerceRegistry.PaymentRail"
      },
      {
       "name": "protocolFeeBps",
       "slot": "6",
       "offset": 1,
       "type": "uint16"
      },
      {
       "name": "protocolFeeAmount",
       "slot": "7",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "facilitator",
       "slot": "8",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "resultHash",
       "slot": "9",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "resourceHash",
       "slot": "10",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "fulfillmentHash",
       "slot": "11",
       "offset": 0,
       "type": "bytes32"
      }
     ]
    },
    "struct ICommerceRegistry.Service": {
     "encoding": "inplace",
     "bytes": 192,
     "members": [
      {
       "name": "merchantId",
       "slot": "0",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "serviceId",
       "slot": "1",
       "offset": 0,
       "type": "string"
      },
      {
       "name": "metadataURI",
       "slot": "2",
       "offset": 0,
       "type": "string"
      },
      {
       "name": "metadataHash",
       "slot": "3",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "capabilityHash",
       "slot": "4",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "active",
       "slot": "5",
       "offset": 0,
       "type": "bool"
      }
     ]
    },
    "struct ICommerceRegistry.TrustSignal": {
     "encoding": "inplace",
     "bytes": 128,
     "members": [
      {
       "name": "subjectType",
       "slot": "0",
       "offset": 0,
       "type": "enum ICommerceRegistry.SignalSubject"
      },
      {
       "name": "subjectId",
       "slot": "1",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "kind",
       "slot": "2",
       "offset": 0,
       "type": "enum ICommerceRegistry.SignalKind"
      },
      {
       "name": "reporter",
       "slot": "2",
       "offset": 1,
       "type": "address"
      },
      {
       "name": "signalHash",
       "slot": "3",
       "offset": 0,
       "type": "bytes32"
      }
     ]
    },
    "uint16": {
     "encoding": "inplace",
     "bytes": 2
    },
    "uint256": {
     "encoding": "inplace",
     "bytes": 32
    }
   }
  },
  "IntentBook": {
   "source": "src/IntentBook.sol",
   "codeHash": "0xa49c58d6e6536b78433b631970fe828164edf4ae69000d3870eefbf98d752da0",
   "immutables": [
    {
     "length": 32,
     "start": 505
    },
    {
     "length": 32,
     "start": 3763
    },
    {
     "length": 32,
     "start": 3811
    },
    {
     "length": 32,
     "start": 4002
    },
    {
     "length": 32,
     "start": 4395
    },
    {
     "length": 32,
     "start": 4437
    },
    {
     "length": 32,
     "start": 4479
    },
    {
     "length": 32,
     "start": 4560
    },
    {
     "length": 32,
     "start": 4600
    }
   ],
   "variables": [
    {
     "name": "_nameFallback",
     "slot": "0",
     "offset": 0,
     "type": "string"
    },
    {
     "name": "_versionFallback",
     "slot": "1",
     "offset": 0,
     "type": "string"
    },
    {
     "name": "_lastIntentId",
     "slot": "2",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_intents",
     "slot": "3",
     "offset": 0,
     "type": "mapping(uint256 => struct IIntentBook.Intent)"
    },
    {
     "name": "_statuses",
     "slot": "4",
     "offset": 0,
     "type": "mapping(uint256 => enum IIntentBook.IntentStatus)"
    },
    {
     "name": "_usedNonces",
     "slot": "5",
     "offset": 0,
     "type": "mapping(address => mapping(uint256 => bool))"
    },
    {
     "name": "_lastBidId",
     "slot": "6",
     "offset": 0,
     "type": "mapping(uint256 => uint256)"
    },
    {
     "name": "_selectedBidId",
     "slot": "7",
     "offset": 0,
     "type": "mapping(uint256 => uint256)"
    },
    {
     "name": "_bids",
     "slot": "8",
     "offset": 0,
     "type": "mapping(uint256 => mapping(uint256 => struct IIntentBook.SolverBid))"
    }
   ],
   "types": {
    "address": {
     "encoding": "inplace",
     "bytes": 20
    },
    "bool": {
     "encoding": "inplace",
     "bytes": 1
    },
    "bytes32": {
     "encoding": "inplace",
     "bytes": 32
    },
    "enum IIntentBook.IntentStatus": {
     "encoding": "inplace",
     "bytes": 1
    },
    "enum IIntentBook.IntentType": {
     "encoding": "inplace",
     "bytes": 1
    },
    "mapping(address => mapping(uint256 => bool))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(uint256 => bool)"
    },
    "mapping(uint256 => bool)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "bool"
    },
    "mapping(uint256 => enum IIntentBook.IntentStatus)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "enum IIntentBook.IntentStatus"
    },
    "mapping(uint256 => mapping(uint256 => struct IIntentBook.SolverBid))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "mapping(uint256 => struct IIntentBook.SolverBid)"
    },
    "mapping(uint256 => struct IIntentBook.Intent)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct IIntentBook.Intent"
    },
    "mapping(uint256 => struct IIntentBook.SolverBid)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct IIntentBook.SolverBid"
    },
    "mapping(uint256 => uint256)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "uint256"
    },
    "string": {
     "encoding": "bytes",
     "bytes": 32
    },
    "struct IIntentBook.Constraints": {
     "encoding": "inplace",
     "bytes": 128,
     "members": [
      {
       "name": "amountInMax",
       "slot": "0",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "amountOutMin",
       "slot": "1",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "deadline",
       "slot": "2",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "slippageBps",
       "slot": "3",
       "offset": 0,
       "type": "uint16"
      }
     ]
    },
    "struct IIntentBook.ExecutionRequirements": {
     "encoding": "inplace",
     "bytes": 160,
     "members": [
      {
       "name": "target",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "dataHash",
       "slot": "1",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "requiredAttestationSubject",
       "slot": "2",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "requiredAttestationSchema",
       "slot": "3",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "metadataURIHash",
       "slot": "4",
       "offset": 0,
       "type": "bytes32"
      }
     ]
    },
    "struct IIntentBook.Intent": {
     "encoding": "inplace",
     "bytes": 416,
     "members": [
      {
       "name": "owner",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "intentType",
       "slot": "0",
       "offset": 20,
       "type": "enum IIntentBook.IntentType"
      },
      {
       "name": "constraints",
       "slot": "1",
       "offset": 0,
       "type": "struct IIntentBook.Constraints"
      },
      {
       "name": "execution",
       "slot": "5",
       "offset": 0,
       "type": "struct IIntentBook.ExecutionRequirements"
      },
      {
       "name": "inputToken",
       "slot": "10",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "outputToken",
       "slot": "11",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "nonce",
       "slot": "12",
       "offset": 0,
       "type": "uint256"
      }
     ]
    },
    "struct IIntentBook.SolverBid": {
     "encoding": "inplace",
     "bytes": 224,
     "members": [
      {
       "name": "solver",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "amountIn",
       "slot": "1",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "amountOut",
       "slot": "2",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "fee",
       "slot": "3",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "validUntil",
       "slot": "4",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "executionHash",
       "slot": "5",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "selected",
       "slot": "6",
       "offset": 0,
       "type": "bool"
      },
      {
       "name": "exists",
       "slot": "6",
       "offset": 1,
       "type": "bool"
      }
     ]
    },
    "uint16": {
     "encoding": "inplace",
     "bytes": 2
    },
    "uint256": {
     "encoding": "inplace",
     "bytes": 32
    }
   }
  },
  "PolicyModule": {
   "source": "src/PolicyModule.sol",
   "codeHash": "0xe922a5f5132d94be078e669b408620c6d484f405c471e60c0996ccef541e8b1c",
   "immutables": [],
   "variables": [
    {
     "name": "_limits",
     "slot": "0",
     "offset": 0,
     "type": "mapping(address => mapping(address => struct IPolicyModule.SpendLimit))"
    },
    {
     "name": "_targets",
     "slot": "1",
     "offset": 0,
     "type": "mapping(address => mapping(address => bool))"
    },
    {
     "name": "_functions",
     "slot": "2",
     "offset": 0,
     "type": "mapping(address => mapping(address => mapping(bytes4 => bool)))"
    },
    {
     "name": "_usesFunctionAllowlist",
     "slot": "3",
     "offset": 0,
     "type": "mapping(address => bool)"
    },
    {
     "name": "_guardians",
     "slot": "4",
     "offset": 0,
     "type": "mapping(address => address)"
    },
    {
     "name": "_frozen",
     "slot": "5",
     "offset": 0,
     "type": "mapping(address => bool)"
    },
    {
     "name": "_payments",
     "slot": "6",
     "offset": 0,
     "type": "mapping(address => mapping(address => mapping(address => mapping(address => struct IPolicyModule.PaymentPolicy))))"
    },
    {
     "name": "_recordedPayments",
     "slot": "7",
     "offset": 0,
     "type": "mapping(address => mapping(bytes32 => bool))"
    }
   ],
   "types": {
    "address": {
     "encoding": "inplace",
     "bytes": 20
    },
    "bool": {
     "encoding": "inplace",
     "bytes": 1
    },
    "bytes32": {
     "encoding": "inplace",
     "bytes": 32
    },
    "bytes4": {
     "encoding": "inplace",
     "bytes": 4
    },
    "mapping(address => address)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "address"
    },
    "mapping(address => bool)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "bool"
    },
    "mapping(address => mapping(address => bool))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(address => bool)"
    },
    "mapping(address => mapping(address => mapping(address => mapping(address => struct IPolicyModule.PaymentPolicy))))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(address => mapping(address => mapping(address => struct IPolicyModule.PaymentPolicy)))"
    },
    "mapping(address => mapping(address => mapping(address => struct IPolicyModule.PaymentPolicy)))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(address => mapping(address => struct IPolicyModule.PaymentPolicy))"
    },
    "mapping(address => mapping(address => mapping(bytes4 => bool)))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(address => mapping(bytes4 => bool))"
    },
    "mapping(address => mapping(address => struct IPolicyModule.PaymentPolicy))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(address => struct IPolicyModule.PaymentPolicy)"
    },
    "mapping(address => mapping(address => struct IPolicyModule.SpendLimit))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(address => struct IPolicyModule.SpendLimit)"
    },
    "mapping(address => mapping(bytes32 => bool))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(bytes32 => bool)"
    },
    "mapping(address => mapping(bytes4 => bool))": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "mapping(bytes4 => bool)"
    },
    "mapping(address => struct IPolicyModule.PaymentPolicy)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "struct IPolicyModule.PaymentPolicy"
    },
    "mapping(address => struct IPolicyModule.SpendLimit)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "struct IPolicyModule.SpendLimit"
    },
    "mapping(bytes32 => bool)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "bytes32",
     "value": "bool"
    },
    "mapping(bytes4 => bool)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "bytes4",
     "value": "bool"
    },
    "struct IPolicyModule.PaymentPolicy": {
     "encoding": "inplace",
     "bytes": 128,
     "members": [
      {
       "name": "maxPerPayment",
       "slot": "0",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "maxPerDay",
       "slot": "1",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "spentToday",
       "slot": "2",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "lastResetTimestamp",
       "slot": "3",
       "offset": 0,
       "type": "uint48"
      },
      {
       "name": "allowed",
       "slot": "3",
       "offset": 6,
       "type": "bool"
      }
     ]
    },
    "struct IPolicyModule.SpendLimit": {
     "encoding": "inplace",
     "bytes": 96,
     "members": [
      {
       "name": "maxPerDay",
       "slot": "0",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "spentToday",
       "slot": "1",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "lastResetTimestamp",
       "slot": "2",
       "offset": 0,
       "type": "uint48"
      }
     ]
    },
    "uint256": {
     "encoding": "inplace",
     "bytes": 32
    },
    "uint48": {
     "encoding": "inplace",
     "bytes": 6
    }
   }
  },
  "SolverRegistry": {
   "source": "src/SolverRegistry.sol",
   "codeHash": "0x15aab384e4bff406c19a6f66dade4647083712aeb1e990e9ca61aee3e7a110f7",
   "immutables": [],
   "variables": [
    {
     "name": "_lastSolverId",
     "slot": "0",
     "offset": 0,
     "type": "uint256"
    },
    {
     "name": "_solvers",
     "slot": "1",
     "offset": 0,
     "type": "mapping(uint256 => struct ISolverRegistry.SolverRecord)"
    },
    {
     "name": "_solverIdOf",
     "slot": "2",
     "offset": 0,
     "type": "mapping(address => uint256)"
    }
   ],
   "types": {
    "address": {
     "encoding": "inplace",
     "bytes": 20
    },
    "bool": {
     "encoding": "inplace",
     "bytes": 1
    },
    "bytes32": {
     "encoding": "inplace",
     "bytes": 32
    },
    "mapping(address => uint256)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "address",
     "value": "uint256"
    },
    "mapping(uint256 => struct ISolverRegistry.SolverRecord)": {
     "encoding": "mapping",
     "bytes": 32,
     "key": "uint256",
     "value": "struct ISolverRegistry.SolverRecord"
    },
    "string": {
     "encoding": "bytes",
     "bytes": 32
    },
    "struct ISolverRegistry.SolverRecord": {
     "encoding": "inplace",
     "bytes": 256,
     "members": [
      {
       "name": "operator",
       "slot": "0",
       "offset": 0,
       "type": "address"
      },
      {
       "name": "metadataURI",
       "slot": "1",
       "offset": 0,
       "type": "string"
      },
      {
       "name": "capabilitiesHash",
       "slot": "2",
       "offset": 0,
       "type": "bytes32"
      },
      {
       "name": "bond",
       "slot": "3",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "fills",
       "slot": "4",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "successfulFills",
       "slot": "5",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "failedFills",
       "slot": "6",
       "offset": 0,
       "type": "uint256"
      },
      {
       "name": "active",
       "slot": "7",
       "offset": 0,
       "type": "bool"
      }
     ]
    },
    "uint256": {
     "encoding": "inplace",
     "bytes": 32
    }
   }
  }
 }
} as const;
