package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WakePolicyTest {
  private final WakePolicy policy = new WakePolicy();

  @Test
  void wakingCarrierOrStealingPaysOnlyForManyQuickEntries() {
    for (int i = 0; i < 100; i++) policy.addSample(1_000, 10);

    assertFalse(policy.isWorthWaking(100));
    assertTrue(policy.isWorthWaking(200));
    assertFalse(policy.isWorthStealing(70));
    assertTrue(policy.isWorthStealing(90));
  }

  @Test
  void wakingCarrierOrStealingPaysForSingleSlowEntry() {
    for (int i = 0; i < 100; i++) policy.addSample(50_000, 1);

    assertTrue(policy.isWorthWaking(1));
    assertTrue(policy.isWorthStealing(1));
    assertFalse(policy.isWorthWaking(0));
    assertFalse(policy.isWorthStealing(0));
  }

  @Test
  void policyForgetsOneLongEntryAfterManyShortEntries() {
    policy.addSample(Long.MAX_VALUE, 1);
    for (int i = 0; i < 60; i++) policy.addSample(100, 1);

    assertFalse(policy.isWorthWaking(50));
  }
}
