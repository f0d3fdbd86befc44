package io.fibry.cluster.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.cluster.partition.MoveProtocol.GateStage;
import io.fibry.cluster.partition.MoveProtocol.GateStep;
import io.fibry.cluster.partition.MoveProtocol.MoveStep;
import io.fibry.cluster.partition.MoveProtocol.PartitionStage;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the transition tables of the protocol that moves partitions between nodes. */
class MoveProtocolTest {
  private static PartitionStage walk(PartitionStage from, MoveStep... steps) {
    var stage = from;
    for (var step : steps) stage = stage.after(step);
    return stage;
  }

  @Test
  void partitionPassesAllMoveStagesAndReturnsToAway() {
    assertEquals(PartitionStage.FORWARDING, walk(PartitionStage.AWAY, MoveStep.TAKE, MoveStep.RELEASE, MoveStep.CLOSE,
        MoveStep.FREE, MoveStep.FORWARD));
    assertEquals(PartitionStage.AWAY, walk(PartitionStage.FORWARDING, MoveStep.END, MoveStep.LEAVE));
  }

  @Test
  void releasedPartitionWithoutNextOwnerSkipsForwarding() {
    assertEquals(PartitionStage.AWAY, walk(PartitionStage.RELEASED, MoveStep.END, MoveStep.LEAVE));
  }

  /** A previous owner that has freed its right may take the partition back. */
  @ParameterizedTest
  @EnumSource(names = {"AWAY", "RELEASED", "FORWARDING"})
  void nodeTakesOnlyPartitionThatItDoesNotOwn(PartitionStage stage) {
    assertEquals(PartitionStage.OWNED, stage.after(MoveStep.TAKE));
    for (var other : EnumSet.complementOf(EnumSet.of(PartitionStage.AWAY, PartitionStage.RELEASED,
        PartitionStage.FORWARDING)))
      assertThrows(IllegalStateException.class, () -> other.after(MoveStep.TAKE));
  }

  @ParameterizedTest
  @EnumSource
  void loseStepChangesEveryStageToAway(PartitionStage stage) {
    assertEquals(PartitionStage.AWAY, stage.after(MoveStep.LOSE));
  }

  @Test
  void stepWithoutRowInTransitionTableIsRefused() {
    int refusals = 0;
    for (var stage : PartitionStage.values()) for (var step : MoveStep.values()) try {
      stage.after(step);
    } catch (IllegalStateException refused) {
      assertEquals("a partition that is " + stage + " cannot " + step, refused.getMessage());
      refusals++;
    }
    assertEquals(PartitionStage.values().length * MoveStep.values().length - MoveProtocol.MOVES.size(), refusals);
    assertEquals("a gate that is RELEASED cannot OPEN",
        assertThrows(IllegalStateException.class, () -> GateStage.RELEASED.after(GateStep.OPEN)).getMessage());
  }

  @Test
  void transitionTableHasAtMostOneRowPerStageAndStep() {
    assertEquals(MoveProtocol.MOVES.size(),
        MoveProtocol.MOVES.stream().map(move -> List.of(move.from(), move.step())).distinct().count());
    assertEquals(MoveProtocol.GATE_MOVES.size(),
        MoveProtocol.GATE_MOVES.stream().map(move -> List.of(move.from(), move.step())).distinct().count());
  }

  /**
   * An open gate passes messages to entities, so it must have entities before it opens. It gets
   * them while it holds messages.
   */
  @Test
  void gateOpensOnlyFromHoldingStage() {
    for (var stage : GateStage.values())
      if (stage == GateStage.HOLDING) assertEquals(GateStage.OPEN, stage.after(GateStep.OPEN));
      else {
        assertEquals(GateStage.HOLDING, stage.after(GateStep.HOLD));
        assertThrows(IllegalStateException.class, () -> stage.after(GateStep.OPEN));
      }
  }

  /**
   * Only an open gate passes messages to entities, so only an open gate can end them. It must end
   * them before it forwards messages, because an entity must not run on two nodes.
   */
  @Test
  void onlyOpenGateReleasesItsEntities() {
    for (var stage : Set.of(GateStage.HOLDING, GateStage.RELEASED, GateStage.FORWARDING))
      assertThrows(IllegalStateException.class, () -> stage.after(GateStep.RELEASE));
    assertEquals(GateStage.FORWARDING, GateStage.OPEN.after(GateStep.RELEASE).after(GateStep.FORWARD));
    assertThrows(IllegalStateException.class, () -> GateStage.OPEN.after(GateStep.FORWARD));
  }
}
