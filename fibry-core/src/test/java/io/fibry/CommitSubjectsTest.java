package io.fibry;

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

/** Subjects of commits are {@code module: verb object}, in at most 72 characters. */
class CommitSubjectsTest {
  /** Commits after this one follow the rule. */
  private static final String RULE_BEGINS = "7d90efb0a783336912d2042577a36bd73cf8edeb";
  private static final Pattern SUBJECT = Pattern.compile("[a-z][a-z0-9-]*(, [a-z][a-z0-9-]*)*: [a-z`].*[^. ]");

  @Test
  void newCommitSubjectsMatchRequiredForm() {
    try (var git = Child.start(List.of("git", "-C", Repository.ROOT.toString(), "log", "--no-merges",
        "--format=%s", RULE_BEGINS + "..HEAD"))) {
      int status = git.exitCode();
      assumeTrue(status == 0, "no git, or a history that is cut off");
      assertEquals(List.of(), git.lines().stream().filter(subject -> !isGood(subject)).toList());
    } catch (UncheckedIOException missing) {
      abort("no git: " + missing.getMessage());
    }
  }

  @Test
  void malformedCommitSubjectsAreFound() {
    assertTrue(isGood("cluster: expire requests by their remaining time on arrival"));
    assertTrue(isGood("nats, jdbc: name the table in refusals"));
    assertFalse(isGood("Let a late request be late where it arrives, too"));
    assertFalse(isGood("cluster: Expire requests"));
    assertFalse(isGood("cluster: expire requests."));
    assertFalse(isGood("cluster: expire requests by the time that remains to them when they arrive"));
  }

  private static boolean isGood(String subject) {
    return subject.length() <= 72 && SUBJECT.matcher(subject).matches();
  }
}
