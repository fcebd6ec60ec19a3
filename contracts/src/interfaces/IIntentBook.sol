// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IAttestationRegistry} from "./IAttestationRegistry.sol";

/// @title Book of signed intents, the bids solvers make on them, and the fills they report.
/// @dev The book records commitments and never moves tokens.
interface IIntentBook {
    /// @notice What an intent asks for.
    enum IntentType {
        SWAP_EXACT_IN_MAX_SLIPPAGE
    }

    /// @notice Where an intent stands. EXPIRED is never stored: an open intent past its deadline stays OPEN here.
    enum IntentStatus {
        OPEN,
        FILLED,
        CANCELLED,
        EXPIRED
    }

    /// @notice Bounds every bid must keep.
    /// @param amountInMax Most the owner gives.
    /// @param amountOutMin Least the owner takes.
    /// @param deadline Time, in seconds, from which the intent can be neither bid on nor filled.
    /// @param slippageBps Slippage the owner accepts, in hundredths of a percent, at most 10000.
    struct Constraints {
        uint256 amountInMax;
        uint256 amountOutMin;
        uint256 deadline;
        uint16 slippageBps;
    }

    /// @notice How the intent must be carried out; a zero field asks for nothing.
    /// @param target Contract the execution is meant for.
    /// @param dataHash Execution hash the filling bid must have committed to.
    /// @param requiredAttestationSubject Subject the fill's attestation must be about.
    /// @param requiredAttestationSchema Schema the fill's attestation must follow.
    /// @param metadataURIHash Hash of the URI that describes the intent.
    struct ExecutionRequirements {
        address target;
        bytes32 dataHash;
        bytes32 requiredAttestationSubject;
        bytes32 requiredAttestationSchema;
        bytes32 metadataURIHash;
    }

    /// @notice What the owner signs.
    /// @param owner Account whose signature makes the intent valid.
    /// @param intentType What is asked for.
    /// @param constraints Bounds every bid must keep.
    /// @param execution How it must be carried out.
    /// @param inputToken Token the owner gives.
    /// @param outputToken Token the owner takes.
    /// @param nonce Any number the owner has not used before.
    struct Intent {
        address owner;
        IntentType intentType;
        Constraints constraints;
        ExecutionRequirements execution;
        address inputToken;
        address outputToken;
        uint256 nonce;
    }

    /// @notice What a solver reports when it has filled an intent.
    /// @param amountIn Amount taken; equals the selected bid.
    /// @param amountOut Amount given; equals the selected bid.
    /// @param solver Solver of the selected bid.
    /// @param executionData Data of the execution; not stored.
    /// @param resultHash Commitment to the result.
    /// @param traceHash Commitment to the execution trace.
    /// @param attestationId Attestation offered as proof, 0 when none is required.
    struct Fill {
        uint256 amountIn;
        uint256 amountOut;
        address solver;
        bytes executionData;
        bytes32 resultHash;
        bytes32 traceHash;
        uint256 attestationId;
    }

    /// @notice One bid on an intent.
    /// @param solver Account that made the bid and alone may fill it.
    /// @param amountIn Amount the solver takes.
    /// @param amountOut Amount the solver gives.
    /// @param fee Fee the solver asks for.
    /// @param validUntil Last second at which the owner may select the bid.
    /// @param executionHash Execution the solver commits to.
    /// @param selected Whether this is the intent's selected bid.
    /// @param exists True for every stored bid.
    struct SolverBid {
        address solver;
        uint256 amountIn;
        uint256 amountOut;
        uint256 fee;
        uint256 validUntil;
        bytes32 executionHash;
        bool selected;
        bool exists;
    }

    /// @notice A signed intent was accepted.
    /// @param intentId Identifier of the intent, counted from 1.
    /// @param owner Account that signed it.
    /// @param nonce Nonce it used up.
    event IntentSubmitted(uint256 indexed intentId, address indexed owner, uint256 nonce);

    /// @notice The owner withdrew an open intent.
    /// @param intentId Identifier of the intent.
    event IntentCancelled(uint256 indexed intentId);

    /// @notice The selected solver filled an intent.
    /// @param intentId Identifier of the intent.
    /// @param solver Solver of the selected bid.
    /// @param amountIn Amount taken.
    /// @param amountOut Amount given.
    event IntentFilled(uint256 indexed intentId, address indexed solver, uint256 amountIn, uint256 amountOut);

    /// @notice What the solver offered as proof of a fill; follows every IntentFilled.
    /// @param intentId Identifier of the intent.
    /// @param resultHash Commitment to the result.
    /// @param traceHash Commitment to the execution trace.
    /// @param attestationId Attestation offered as proof.
    event IntentFillProof(
        uint256 indexed intentId,
        bytes32 resultHash,
        bytes32 traceHash,
        uint256 indexed attestationId
    );

    /// @notice A solver made a bid.
    /// @param intentId Identifier of the intent.
    /// @param bidId Number of the bid within the intent, counted from 1.
    /// @param solver Account that made the bid.
    /// @param amountIn Amount the solver takes.
    /// @param amountOut Amount the solver gives.
    /// @param fee Fee the solver asks for.
    /// @param validUntil Last second at which the owner may select the bid.
    /// @param executionHash Execution the solver commits to.
    event SolverBidSubmitted(
        uint256 indexed intentId,
        uint256 indexed bidId,
        address indexed solver,
        uint256 amountIn,
        uint256 amountOut,
        uint256 fee,
        uint256 validUntil,
        bytes32 executionHash
    );

    /// @notice The owner selected a bid; a bid selected before is deselected.
    /// @param intentId Identifier of the intent.
    /// @param bidId Number of the bid.
    /// @param solver Account that made the bid.
    event SolverBidSelected(uint256 indexed intentId, uint256 indexed bidId, address indexed solver);

    /// @notice The caller may not do this: not the intent's owner, or not the selected solver.
    error Unauthorized();

    /// @notice The owner has already used this nonce.
    error InvalidNonce();

    /// @notice The intent's deadline has been reached.
    error IntentExpired();

    /// @notice The intent does not exist or is no longer open.
    error IntentNotOpen();

    /// @notice The amounts break the intent's bounds, or a fill differs from its bid.
    error ConstraintViolation();

    /// @notice Slippage above 10000 hundredths of a percent.
    error InvalidSlippage();

    /// @notice The deadline of a new intent is not in the future.
    error InvalidDeadline();

    /// @notice The signature is not the owner's.
    error InvalidSignature();

    /// @notice The bid's validity ends in the past or after the intent's deadline.
    error InvalidBid();

    /// @notice The intent has no bid with this number.
    error BidNotFound();

    /// @notice The bid can no longer be selected.
    error BidExpired();

    /// @notice The fill names a solver other than that of the selected bid.
    error BidNotSelected();

    /// @notice The intent has no selected bid yet.
    error SelectedBidRequired();

    /// @notice The bid committed to another execution than the intent requires.
    error ExecutionCommitmentMismatch();

    /// @notice The offered attestation does not exist, is revoked, or is about something else.
    error RequiredAttestationMissing();

    /// @notice The attestation registry given at deployment is not a contract.
    /// @param registry Address that was given.
    error InvalidAttestationRegistry(address registry);

    /// @notice Submits an intent signed by its owner under EIP-712; anyone may relay it.
    /// @param intent What the owner signed.
    /// @param v Recovery id of the signature.
    /// @param r First half of the signature.
    /// @param s Second half of the signature, in the lower half order.
    /// @return intentId Identifier of the new intent.
    function submitIntent(
        Intent calldata intent,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external returns (uint256 intentId);

    /// @notice Withdraws an open intent; owner only.
    /// @param intentId Identifier of the intent.
    function cancelIntent(uint256 intentId) external;

    /// @notice Bids on an open intent in the caller's name.
    /// @param intentId Identifier of the intent.
    /// @param amountIn Amount the solver takes, at most the intent's maximum.
    /// @param amountOut Amount the solver gives, at least the intent's minimum.
    /// @param fee Fee the solver asks for.
    /// @param validUntil Last second at which the bid may be selected; in the future, not after the deadline.
    /// @param executionHash Execution the solver commits to.
    /// @return bidId Number of the new bid within the intent.
    function submitBid(
        uint256 intentId,
        uint256 amountIn,
        uint256 amountOut,
        uint256 fee,
        uint256 validUntil,
        bytes32 executionHash
    ) external returns (uint256 bidId);

    /// @notice Selects the bid that may be filled; intent owner only. Another bid may be selected later.
    /// @param intentId Identifier of the intent.
    /// @param bidId Number of the bid.
    function selectBid(uint256 intentId, uint256 bidId) external;

    /// @notice Reports the fill of an intent; solver of the selected bid only, with the amounts of that bid.
    /// @param intentId Identifier of the intent.
    /// @param fill What was done, with its proof.
    function fillIntent(uint256 intentId, Fill calldata fill) external;

    /// @notice Reads an intent.
    /// @param intentId Identifier of the intent.
    /// @return The intent, all zero when there is none.
    function getIntent(uint256 intentId) external view returns (Intent memory);

    /// @notice Reads the stored status of an intent.
    /// @param intentId Identifier of the intent.
    /// @return The status; OPEN also when there is no such intent.
    function getIntentStatus(uint256 intentId) external view returns (IntentStatus);

    /// @notice Reads a bid; reverts with BidNotFound when there is none.
    /// @param intentId Identifier of the intent.
    /// @param bidId Number of the bid.
    /// @return The bid.
    function getBid(uint256 intentId, uint256 bidId) external view returns (SolverBid memory);

    /// @notice Reads which bid is selected.
    /// @param intentId Identifier of the intent.
    /// @return Number of the selected bid, 0 when none is.
    function getSelectedBid(uint256 intentId) external view returns (uint256);

    /// @notice Registry that required attestations are looked up in.
    /// @return The registry.
    function attestationRegistry() external view returns (IAttestationRegistry);
}
