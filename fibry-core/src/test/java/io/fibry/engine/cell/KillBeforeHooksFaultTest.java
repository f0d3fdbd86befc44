package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.testing.Variants;
import org.junit.jupiter.api.Test;

/**
 * Tests a kill between the poison pill and the hooks of an actor. No user code runs at that moment,
 * so the tests call the steps of the end themselves.
 */
class KillBeforeHooksFaultTest {
  private final Cell cell = (Cell) (Object) Variants.scope(o -> o).anonymous().newActor((Object m) -> {});

  private Activation activationForHooks() {
    var drain = new Activation(cell, null, Activation.ActivationKind.NORMAL);
    drain.thread = Thread.currentThread();
    return drain;
  }

  @Test
  void killBetweenPoisonPillAndExitHooksInterruptsHooks() {
    cell.extras().interruptHooks();

    cell.extras().beginHooks(activationForHooks());

    assertTrue(Thread.interrupted());
  }

  @Test
  void exitHooksAreNotInterruptedWithoutKill() {
    cell.extras().beginHooks(activationForHooks());

    assertFalse(Thread.interrupted());
  }
}
