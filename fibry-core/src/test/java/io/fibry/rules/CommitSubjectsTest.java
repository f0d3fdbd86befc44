package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.support.Child;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Tests that the subjects of commits have the form {@code module: verb object} and at most 72
 * characters.
 */
class CommitSubjectsTest {
  /** The last commit before this rule was introduced. */
  private static final String LAST_COMMIT_BEFORE_RULE = "7d90efb0a783336912d2042577a36bd73cf8edeb";
  private static final Pattern SUBJECT = Pattern.compile("[a-z][a-z0-9-]*(, [a-z][a-z0-9-]*)*: [a-z`].*[^. ]");

  @Test
  void newCommitSubjectsMatchRequiredForm() {
    try (var git = Child.start(List.of("git", "-C", Repository.ROOT.toString(), "log", "--no-merges",
        "--format=%s", LAST_COMMIT_BEFORE_RULE + "..HEAD"))) {
      int status = git.exitCode();
      assumeTrue(status == 0, "no git, or an incomplete history");
      assertEquals(List.of(), git.lines().stream().filter(subject -> !isWellFormed(subject)).toList());
    } catch (UncheckedIOException e) {
      abort("no git: " + e.getMessage());
    }
  }

  @Test
  void malformedCommitSubjectsAreFound() {
    assertTrue(isWellFormed("cluster: expire requests by their remaining time on arrival"));
    assertTrue(isWellFormed("nats, jdbc: name the table in refusals"));
    assertFalse(isWellFormed("Let a late request be late where it arrives, too"));
    assertFalse(isWellFormed("cluster: Expire requests"));
    assertFalse(isWellFormed("cluster: expire requests."));
    assertFalse(isWellFormed("cluster: expire requests by the time that remains to them when they arrive"));
  }

  private static boolean isWellFormed(String subject) {
    return subject.length() <= 72 && SUBJECT.matcher(subject).matches();
  }
}
