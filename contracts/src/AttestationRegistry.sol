// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IAttestationRegistry} from "./interfaces/IAttestationRegistry.sol";

/// @title Registry of attestations: who vouches for which subject, under which schema.
contract AttestationRegistry is IAttestationRegistry {
    uint256 private _lastId;
    mapping(uint256 id => Attestation) private _attestations;
    mapping(bytes32 subject => uint256[]) private _idsBySubject;

    /// @inheritdoc IAttestationRegistry
    function submitAttestation(bytes32 schema, bytes32 subject, bytes32 dataHash) external returns (uint256 id) {
        id = ++_lastId;
        _attestations[id] = Attestation({
            attester: msg.sender,
            schema: schema,
            subject: subject,
            dataHash: dataHash,
            timestamp: uint64(block.timestamp),
            revoked: false
        });
        _idsBySubject[subject].push(id);
        emit AttestationSubmitted(id, msg.sender, schema, subject);
    }

    /// @inheritdoc IAttestationRegistry
    function revokeAttestation(uint256 id) external {
        Attestation storage attestation = _existing(id);
        if (attestation.attester != msg.sender) revert Unauthorized();
        if (attestation.revoked) revert AlreadyRevoked();
        attestation.revoked = true;
        emit AttestationRevoked(id);
    }

    /// @inheritdoc IAttestationRegistry
    function getAttestation(uint256 id) external view returns (Attestation memory) {
        return _existing(id);
    }

    /// @inheritdoc IAttestationRegistry
    function getAttestationsBySubject(bytes32 subject) external view returns (uint256[] memory) {
        return _idsBySubject[subject];
    }

    function _existing(uint256 id) private view returns (Attestation storage attestation) {
        attestation = _attestations[id];
        if (attestation.attester == address(0)) revert AttestationNotFound();
    }
}
