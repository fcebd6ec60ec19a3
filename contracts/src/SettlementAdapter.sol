// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ISettlementAdapter} from "./interfaces/ISettlementAdapter.sol";

/// @title Pays all parties of a quote in one transaction.
contract SettlementAdapter is ISettlementAdapter, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @inheritdoc ISettlementAdapter
    address public constant NATIVE_TOKEN = address(0);

    /// @inheritdoc ISettlementAdapter
    function executeSettlement(
        SettlementInstruction calldata instruction
    ) external payable nonReentrant returns (bytes32 executionHash) {
        _check(instruction);
        executionHash = _executionHash(instruction);
        emit SettlementExecuted(
            instruction.quoteHash,
            instruction.settlementPlanHash,
            instruction.payer,
            instruction.token,
            instruction.grossAmount,
            executionHash
        );
        _pay(instruction);
    }

    function _check(SettlementInstruction calldata instruction) private view {
        if (instruction.quoteHash == bytes32(0)) revert EmptyQuoteHash();
        if (instruction.settlementPlanHash == bytes32(0)) revert EmptySettlementPlanHash();
        if (block.timestamp > instruction.deadline) revert DeadlineExpired();
        if (instruction.payer != msg.sender) revert PayerMismatch();
        if (instruction.lines.length == 0) revert NoSettlementLines();
        if (instruction.token == NATIVE_TOKEN) {
            if (msg.value != instruction.grossAmount) revert InvalidNativeValue();
        } else if (msg.value != 0) {
            revert InvalidERC20Value();
        }
        // Counting down from the gross amount can not overflow, whatever the lines say.
        uint256 unassigned = instruction.grossAmount;
        for (uint256 i = 0; i < instruction.lines.length; ++i) {
            SettlementLine calldata line = instruction.lines[i];
            if (line.recipient == address(0) || line.recipient == address(this)) revert InvalidRecipient();
            if (line.token != instruction.token) revert InvalidLineToken();
            if (line.amount == 0) revert InvalidLineAmount();
            if (line.amount > unassigned) revert LineTotalMismatch();
            unassigned -= line.amount;
        }
        if (unassigned != 0) revert LineTotalMismatch();
    }

    function _pay(SettlementInstruction calldata instruction) private {
        for (uint256 i = 0; i < instruction.lines.length; ++i) {
            SettlementLine calldata line = instruction.lines[i];
            if (instruction.token == NATIVE_TOKEN) {
                (bool paid, ) = line.recipient.call{value: line.amount}("");
                if (!paid) revert NativeTransferFailed();
            } else {
                _transferExactly(IERC20(instruction.token), instruction.payer, line.recipient, line.amount);
            }
        }
    }

    function _transferExactly(IERC20 token, address payer, address recipient, uint256 amount) private {
        uint256 payerBefore = token.balanceOf(payer);
        uint256 recipientBefore = token.balanceOf(recipient);
        token.safeTransferFrom(payer, recipient, amount);
        // A payer may pay itself; its balance then stays as it was.
        uint256 moved = payer == recipient ? 0 : amount;
        _requireBalance(token, payer, payerBefore - moved);
        _requireBalance(token, recipient, recipientBefore + moved);
    }

    function _requireBalance(IERC20 token, address holder, uint256 expected) private view {
        uint256 actual = token.balanceOf(holder);
        if (actual != expected) revert InexactTokenTransfer(address(token), holder, expected, actual);
    }

    function _executionHash(SettlementInstruction calldata instruction) private view returns (bytes32) {
        bytes32[] memory lineHashes = new bytes32[](instruction.lines.length);
        for (uint256 i = 0; i < lineHashes.length; ++i) {
            lineHashes[i] = keccak256(abi.encode(instruction.lines[i]));
        }
        return
            keccak256(
                abi.encode(
                    block.chainid,
                    address(this),
                    instruction.quoteHash,
                    instruction.settlementPlanHash,
                    instruction.payer,
                    instruction.token,
                    instruction.grossAmount,
                    instruction.deadline,
                    keccak256(abi.encodePacked(lineHashes))
                )
            );
    }
}
