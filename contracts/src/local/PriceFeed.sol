// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IAggregatorV3} from "../interfaces/IAggregatorV3.sol";

/// @title Price feed whose owner says the price, for local chains.
contract PriceFeed is IAggregatorV3, Ownable {
    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    /// @inheritdoc IAggregatorV3
    uint8 public immutable decimals;

    /// @inheritdoc IAggregatorV3
    string public description;

    /// @inheritdoc IAggregatorV3
    uint256 public constant version = 1;

    uint80 private _latestRoundId;
    mapping(uint80 roundId => Round) private _rounds;

    /// @notice The round has not happened.
    /// @param roundId Round that was asked for.
    error NoDataPresent(uint80 roundId);

    /// @param description_ What is priced, such as "ETH / USD".
    /// @param decimals_ Decimals of every answer.
    /// @param answer First answer.
    constructor(string memory description_, uint8 decimals_, int256 answer) Ownable(msg.sender) {
        description = description_;
        decimals = decimals_;
        _publish(answer, block.timestamp);
    }

    /// @notice Publishes an answer as of now; owner only.
    /// @param answer Price.
    function setAnswer(int256 answer) external onlyOwner {
        _publish(answer, block.timestamp);
    }

    /// @notice Publishes an answer as of another time, to play a stale feed; owner only.
    /// @param answer Price.
    /// @param updatedAt Time of the answer, in seconds.
    function setAnswerAt(int256 answer, uint256 updatedAt) external onlyOwner {
        _publish(answer, updatedAt);
    }

    /// @inheritdoc IAggregatorV3
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(_latestRoundId);
    }

    /// @inheritdoc IAggregatorV3
    function getRoundData(
        uint80 roundId
    ) public view returns (uint80 id, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound) {
        if (roundId == 0 || roundId > _latestRoundId) revert NoDataPresent(roundId);
        Round storage round = _rounds[roundId];
        return (roundId, round.answer, round.updatedAt, round.updatedAt, roundId);
    }

    function _publish(int256 answer, uint256 updatedAt) private {
        uint80 roundId = ++_latestRoundId;
        _rounds[roundId] = Round({answer: answer, updatedAt: updatedAt});
        emit AnswerUpdated(answer, roundId, updatedAt);
    }
}
