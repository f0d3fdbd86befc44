package io.fibry.cluster.partition;

import java.util.List;
import java.util.stream.Stream;

/**
 * The protocol by which a partition moves from one node to another, as two tables. The coordinator
 * of a node has a {@link PartitionStage} for each partition. The {@link PartitionGate} of the
 * partition, another actor, has a {@link GateStage}. The coordinator notifies the gate of its steps
 * by a message. So the gate first handles, holds or forwards the messages that arrived before the
 * notification, and then takes its own step. Both actors change their stages only by these tables.
 *
 * <p>A node's right to a partition is an entry of the cluster's table, which names the owner. These
 * are the stages of a move from node A to node B, in their order:
 *
 * <pre>
 *   on A                                             on B
 *   OWNED       handles messages                     AWAY    does not listen
 *   RELEASING   its entities finish, and end
 *   CLOSED      holds messages
 *   RELEASED    has freed its right
 *                                                    AWAY    listens, holds, writes its right
 *                                                    OWNED   waits for the messages held by A
 *   FORWARDING  forwards messages, for a while
 *   ENDING      forwards arrived messages, and ends  OWNED   handles them, then its own
 *   AWAY        does not listen
 * </pre>
 */
final class MoveProtocol {
  /** The stage of a partition on a node. */
  enum PartitionStage {
    AWAY, OWNED, RELEASING, CLOSED, RELEASED, FORWARDING, ENDING;

    /** Returns the stage after a step, which this stage must permit. */
    PartitionStage after(MoveStep step) {
      return next(MOVES, "a partition", this, step);
    }
  }

  /** A step of the coordinator. */
  enum MoveStep {
    TAKE, // the table has this node's right to the partition
    RELEASE, // another node should own the partition
    CLOSE, // the entities have ended
    FREE, // the right is freed
    FORWARD, // the next owner is known
    END, // the messages were forwarded for long enough, or no node can take the partition
    LEAVE, // the gate has ended
    LOSE // another node may own the partition, or the right cannot be written
  }

  /** A row of a table, with the stages before and after a step. */
  record Move<S, T>(S from, T step, S to) {}

  /** How a gate treats the messages that arrive. */
  enum GateStage {
    HOLDING, OPEN, RELEASED, FORWARDING;

    /** Returns the stage after a step, which this stage must permit. */
    GateStage after(GateStep step) {
      return next(GATE_MOVES, "a gate", this, step);
    }
  }

  /** A step of the gate. */
  enum GateStep {
    HOLD, // waits until the coordinator knows whether this node owns the partition
    OPEN, // gives the messages to the entities
    RELEASE, // the entities have handled their messages, and have ended
    FORWARD // sends the messages to the next owner
  }

  static final List<Move<PartitionStage, MoveStep>> MOVES = Stream.concat(Stream.of(
      new Move<>(PartitionStage.AWAY, MoveStep.TAKE, PartitionStage.OWNED),
      new Move<>(PartitionStage.OWNED, MoveStep.RELEASE, PartitionStage.RELEASING),
      new Move<>(PartitionStage.RELEASING, MoveStep.CLOSE, PartitionStage.CLOSED),
      new Move<>(PartitionStage.CLOSED, MoveStep.FREE, PartitionStage.RELEASED),
      new Move<>(PartitionStage.RELEASED, MoveStep.FORWARD, PartitionStage.FORWARDING),
      new Move<>(PartitionStage.RELEASED, MoveStep.TAKE, PartitionStage.OWNED),
      new Move<>(PartitionStage.RELEASED, MoveStep.END, PartitionStage.ENDING),
      new Move<>(PartitionStage.FORWARDING, MoveStep.TAKE, PartitionStage.OWNED),
      new Move<>(PartitionStage.FORWARDING, MoveStep.END, PartitionStage.ENDING),
      new Move<>(PartitionStage.ENDING, MoveStep.LEAVE, PartitionStage.AWAY)),
      Stream.of(PartitionStage.values())
          .map(stage -> new Move<>(stage, MoveStep.LOSE, PartitionStage.AWAY)))
      .toList();

  static final List<Move<GateStage, GateStep>> GATE_MOVES = List.of(
      new Move<>(GateStage.HOLDING, GateStep.HOLD, GateStage.HOLDING),
      new Move<>(GateStage.HOLDING, GateStep.OPEN, GateStage.OPEN),
      // Another node has taken the partition first
      new Move<>(GateStage.HOLDING, GateStep.FORWARD, GateStage.FORWARDING),
      // A sender knows a later owner
      new Move<>(GateStage.OPEN, GateStep.HOLD, GateStage.HOLDING),
      new Move<>(GateStage.OPEN, GateStep.RELEASE, GateStage.RELEASED),
      new Move<>(GateStage.RELEASED, GateStep.FORWARD, GateStage.FORWARDING),
      // This node takes the partition again
      new Move<>(GateStage.RELEASED, GateStep.HOLD, GateStage.HOLDING),
      new Move<>(GateStage.FORWARDING, GateStep.HOLD, GateStage.HOLDING));

  private MoveProtocol() {}

  private static <S extends Enum<S>, T extends Enum<T>> S next(List<Move<S, T>> table, String subject, S stage,
      T step) {
    return table.stream().filter(move -> move.from == stage && move.step == step).findFirst()
        .orElseThrow(
            () -> new IllegalStateException(subject + " that is " + stage.name() + " cannot " + step.name())).to;
  }
}
