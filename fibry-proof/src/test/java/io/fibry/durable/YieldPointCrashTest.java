package io.fibry.durable;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Durable actors and their store, whose threads give way between two uses of what they share. */
@Tag("yield-points")
class YieldPointCrashTest {

  @Test
  void answeredTurnsSurviveCrashAndOthersAreStoredOnceOrNever() {
    Seeds.playFinely("crashes", 40, CrashRound::play);
  }
}
