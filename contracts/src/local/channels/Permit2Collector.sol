// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {IDepositCollector} from "../../interfaces/IDepositCollector.sol";
import {IPermit2} from "../../interfaces/IPermit2.sol";
import {DepositCollector} from "./DepositCollector.sol";

/// @title Collects deposits by Permit2, whose witness names the channel, for local chains.
/// @dev The permission is abi.encode(nonce, deadline, signature, allowance). The allowance is empty, or a permit of the
/// token (EIP-2612) for Permit2: abi.encode(value, deadline, v, r, s).
contract Permit2Collector is DepositCollector {
    /// @notice Permit2, at the address that it has on every chain.
    IPermit2 public constant PERMIT2 = IPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    /// @notice Type hash of the witness.
    bytes32 public constant DEPOSIT_WITNESS_TYPEHASH = keccak256("DepositWitness(bytes32 channelId)");

    /// @notice Type of the witness as Permit2 wants it.
    string public constant DEPOSIT_WITNESS_TYPE_STRING =
        "DepositWitness witness)DepositWitness(bytes32 channelId)TokenPermissions(address token,uint256 amount)";

    /// @notice The token refused the permit with a text; the allowance may be there already.
    /// @param token Token concerned.
    /// @param owner Account that signed the permit.
    /// @param reason Text of the token.
    event EIP2612PermitFailedWithReason(address indexed token, address indexed owner, string reason);

    /// @notice The token refused the permit with a panic; the allowance may be there already.
    /// @param token Token concerned.
    /// @param owner Account that signed the permit.
    /// @param errorCode Code of the panic.
    event EIP2612PermitFailedWithPanic(address indexed token, address indexed owner, uint256 errorCode);

    /// @notice The token refused the permit otherwise; the allowance may be there already.
    /// @param token Token concerned.
    /// @param owner Account that signed the permit.
    /// @param data What the token returned.
    event EIP2612PermitFailedWithData(address indexed token, address indexed owner, bytes data);

    /// @notice The permit is for another amount than the deposit.
    error Permit2612AmountMismatch();

    /// @inheritdoc IDepositCollector
    function collect(
        address payer,
        address token,
        uint256 amount,
        bytes32 channelId,
        bytes calldata collectorData
    ) external onlyChannels {
        (uint256 nonce, uint256 deadline, bytes memory signature, bytes memory allowance) = abi.decode(
            collectorData,
            (uint256, uint256, bytes, bytes)
        );
        if (allowance.length > 0) _permit(payer, token, amount, allowance);
        PERMIT2.permitWitnessTransferFrom(
            IPermit2.PermitTransferFrom(IPermit2.TokenPermissions(token, amount), nonce, deadline),
            IPermit2.SignatureTransferDetails(msg.sender, amount),
            payer,
            keccak256(abi.encode(DEPOSIT_WITNESS_TYPEHASH, channelId)),
            DEPOSIT_WITNESS_TYPE_STRING,
            signature
        );
    }

    // Somebody may have used the permit before us, which leaves the allowance that we need: a failure only leaves a log.
    function _permit(address owner, address token, uint256 amount, bytes memory allowance) private {
        (uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) = abi.decode(
            allowance,
            (uint256, uint256, uint8, bytes32, bytes32)
        );
        if (value != amount) revert Permit2612AmountMismatch();
        try IERC20Permit(token).permit(owner, address(PERMIT2), value, deadline, v, r, s) {
            return;
        } catch Error(string memory reason) {
            emit EIP2612PermitFailedWithReason(token, owner, reason);
        } catch Panic(uint256 code) {
            emit EIP2612PermitFailedWithPanic(token, owner, code);
        } catch (bytes memory data) {
            emit EIP2612PermitFailedWithData(token, owner, data);
        }
    }
}
