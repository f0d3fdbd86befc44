package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Variants;
import org.junit.jupiter.api.Test;

/** No user code runs between the pill and the hooks, so the test calls the steps one by one. */
class KillBeforeHooksFaultTest {
  private final Cell cell = (Cell) (Object) Variants.scope(o -> o).anonymous().newActor((Object m) -> {});

  private Activation activationForHooks() {
    var drain = new Activation(cell, null, Activation.ActivationKind.NORMAL);
    drain.thread = Thread.currentThread();
    return drain;
  }

  @Test
  void killBetweenPillAndHookInterruptsHook() {
    cell.extras().interruptHooks();

    cell.extras().beginHooks(activationForHooks());

    assertTrue(Thread.interrupted());
  }

  @Test
  void hookIsNotInterruptedWithoutKill() {
    cell.extras().beginHooks(activationForHooks());

    assertFalse(Thread.interrupted());
  }
}
