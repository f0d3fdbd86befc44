package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** No text of a user's object gets into a log or an exception as it is. */
class RawTextsRulesTest {
  @Test
  void userObjectTextsAreWrittenSafely() throws IOException {
    assertEquals(Set.of(), RawTexts.in(Path.of("src/main/java")),
        "write the text of a user's object by MessageTexts, Lines, shown or asked; or give a reason here");
  }
}
