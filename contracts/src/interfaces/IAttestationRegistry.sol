// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Registry of attestations: who vouches for which subject, under which schema.
interface IAttestationRegistry {
    /// @notice One attestation.
    /// @param attester Account that vouches.
    /// @param schema Schema the attested data follows.
    /// @param subject What is vouched for.
    /// @param dataHash Commitment to the attested data.
    /// @param timestamp Block time of the submission, in seconds.
    /// @param revoked True once the attester took it back.
    struct Attestation {
        address attester;
        bytes32 schema;
        bytes32 subject;
        bytes32 dataHash;
        uint64 timestamp;
        bool revoked;
    }

    /// @notice An attestation was submitted.
    /// @param id Identifier of the attestation, counted from 1.
    /// @param attester Account that vouches.
    /// @param schema Schema the attested data follows.
    /// @param subject What is vouched for.
    event AttestationSubmitted(
        uint256 indexed id,
        address indexed attester,
        bytes32 indexed schema,
        bytes32 subject
    );

    /// @notice The attester took an attestation back.
    /// @param id Identifier of the attestation.
    event AttestationRevoked(uint256 indexed id);

    /// @notice No attestation has this identifier.
    error AttestationNotFound();

    /// @notice The caller is not the attester.
    error Unauthorized();

    /// @notice The attestation was already taken back.
    error AlreadyRevoked();

    /// @notice Vouches for a subject in the caller's name.
    /// @param schema Schema the attested data follows.
    /// @param subject What is vouched for.
    /// @param dataHash Commitment to the attested data.
    /// @return id Identifier of the new attestation.
    function submitAttestation(bytes32 schema, bytes32 subject, bytes32 dataHash) external returns (uint256 id);

    /// @notice Takes an attestation back for ever; attester only.
    /// @param id Identifier of the attestation.
    function revokeAttestation(uint256 id) external;

    /// @notice Reads an attestation; reverts with AttestationNotFound when there is none.
    /// @param id Identifier of the attestation.
    /// @return The attestation.
    function getAttestation(uint256 id) external view returns (Attestation memory);

    /// @notice Lists the attestations about a subject, revoked ones included, oldest first.
    /// @param subject What is vouched for.
    /// @return Their identifiers.
    function getAttestationsBySubject(bytes32 subject) external view returns (uint256[] memory);
}
