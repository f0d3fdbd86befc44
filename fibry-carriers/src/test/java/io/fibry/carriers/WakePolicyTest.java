package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WakePolicyTest {
  private static final int SAMPLES = 100; // enough for the mean to become that of the samples

  private final WakePolicy policy = new WakePolicy();

  private void addSamples(long nanos, int entries, int continuations) {
    for (int i = 0; i < SAMPLES; i++) policy.addSample(nanos, entries, continuations);
  }

  @Test
  void wakingCarrierOrStealingPaysForFewEntriesThatAreNotQuick() {
    addSamples(10_000, 10, 0);

    assertFalse(policy.isWorthWaking(13));
    assertTrue(policy.isWorthWaking(17));
    assertFalse(policy.isWorthStealing(7));
    assertTrue(policy.isWorthStealing(9));
  }

  @Test
  void wakingCarrierOrStealingPaysOnlyForManyQuickDrains() {
    addSamples(5_000, 10, 5);

    assertFalse(policy.isWorthWaking(350));
    assertTrue(policy.isWorthWaking(450));
    assertFalse(policy.isWorthStealing(350));
    assertTrue(policy.isWorthStealing(450));
  }

  /** On two carriers, a request among a hundred actors takes 1.6 µs, and on one 0.4 µs. */
  @Test
  void continuationsStayOnOneCarrierAlsoWhenTwoCarriersHaveMadeThemSlow() {
    addSamples(16_400, 10, 9);

    assertFalse(policy.isWorthWaking(101));
    assertFalse(policy.isWorthStealing(101));
  }

  @Test
  void entriesOfSameTimeAreQuickOnlyIfMostAreContinuations() {
    addSamples(15_000, 10, 6);
    assertFalse(policy.isWorthStealing(9));

    addSamples(15_000, 10, 5);
    assertTrue(policy.isWorthStealing(9));
  }

  @Test
  void wakingCarrierOrStealingPaysForSingleSlowEntry() {
    addSamples(50_000, 1, 0);

    assertTrue(policy.isWorthWaking(1));
    assertTrue(policy.isWorthStealing(1));
    assertFalse(policy.isWorthWaking(0));
    assertFalse(policy.isWorthStealing(0));
  }

  @Test
  void onePauseDoesNotMakeQuickEntriesSlow() {
    addSamples(3_000, 10, 9);

    policy.addSample(Long.MAX_VALUE, 16, 15);

    assertFalse(policy.isWorthStealing(20));
  }

  @Test
  void quickEntriesThatBecomeSlowPayAfterFewSamples() {
    addSamples(3_000, 10, 9);

    for (int i = 0; i < 8; i++) policy.addSample(1_600_000, 16, 15);

    assertTrue(policy.isWorthWaking(1));
    assertTrue(policy.isWorthStealing(1));
  }

  @Test
  void policyForgetsOneLongEntryAfterManyShortEntries() {
    policy.addSample(Long.MAX_VALUE, 1, 0);
    for (int i = 0; i < 60; i++) policy.addSample(100, 1, 0);

    assertFalse(policy.isWorthWaking(50));
  }
}
