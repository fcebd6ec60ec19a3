// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IDepositCollector} from "../../interfaces/IDepositCollector.sol";
import {IReceiveWithAuthorization} from "../../interfaces/IReceiveWithAuthorization.sol";
import {DepositCollector} from "./DepositCollector.sol";

/// @title Collects deposits by transfer authorizations (EIP-3009), for local chains.
/// @dev The permission is abi.encode(validAfter, validBefore, salt, signature). Only the payee may use the authorization,
/// so it names this contract; its nonce names the channel.
contract Erc3009Collector is DepositCollector {
    using SafeERC20 for IERC20;

    /// @inheritdoc IDepositCollector
    function collect(
        address payer,
        address token,
        uint256 amount,
        bytes32 channelId,
        bytes calldata collectorData
    ) external onlyChannels {
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) = abi.decode(
            collectorData,
            (uint256, uint256, uint256, bytes)
        );
        IReceiveWithAuthorization(token).receiveWithAuthorization(
            payer,
            address(this),
            amount,
            validAfter,
            validBefore,
            keccak256(abi.encode(channelId, salt)),
            signature
        );
        IERC20(token).safeTransfer(msg.sender, amount);
    }
}
