package io.fibry.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationsTest {

  @ParameterizedTest
  @CsvSource(textBlock = """
      PT0S, 0 s
      PT0.000000001S, 1 ns
      PT0.000001234S, 1.23 µs
      PT0.00005S, 50 µs
      PT0.3S, 300 ms
      PT0.29804721S, 298 ms
      PT0.00104S, 1.04 ms
      PT0.01256S, 12.5 ms
      PT1S, 1 s
      PT1.5S, 1.5 s
      PT59.999S, 59.9 s
      PT60S, 1 min
      PT1M30.7S, 1 min 30 s
      PT1H, 1 h
      PT23H59M59S, 23 h 59 min
      PT48H, 2 d
      PT49H59M, 2 d 1 h
      PT-1S, -1 s
      PT-0.0000005S, -500 ns
      """)
  void textOfDurationHasAtMostTwoUnits(Duration duration, String text) {
    assertEquals(text, Durations.text(duration));
    assertEquals(text, Durations.textOfNanos(duration.toNanos()));
  }

  @Test
  void textsOfLongestDurationsDoNotOverflow() {
    assertEquals("for ever", Durations.text(ChronoUnit.FOREVER.getDuration()));
    assertEquals("-for ever", Durations.text(Duration.ofSeconds(Long.MIN_VALUE)));
    assertEquals("106751 d 23 h", Durations.textOfNanos(Long.MAX_VALUE));
    assertEquals("-106751 d 23 h", Durations.textOfNanos(Long.MIN_VALUE));
  }
}
