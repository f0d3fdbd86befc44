package io.fibry.net.http;

import io.fibry.net.HttpExchange;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The version of a file, and the conditions of a request about it. A client names a version by its
 * entity tag, which has the size and the modification time, or by its modification time alone.
 *
 * <p>A strong tag promises equal bytes, so that a client may join parts of the file. The tag of a
 * file is weak for two seconds after a change. A second change in this time may get the same
 * modification time, because some file systems count in steps of two seconds. Later the tag is
 * strong. A program that changes a file, and restores its size and its modification time, defeats
 * the tag.
 *
 * @param opaqueTag the entity tag without the prefix of a weak tag
 * @param isStrong whether equal tags mean equal bytes
 * @param lastModified the modification time in whole seconds, but no time in the future
 */
record FileVersion(String opaqueTag, boolean isStrong, Instant lastModified) {
  private static final Duration MAX_CLOCK_STEP = Duration.ofSeconds(2);

  // one tag of a list; \G ends the search at the first malformed tag
  private static final Pattern TAG =
      Pattern.compile("\\G[ \t,]*+(W/)?(\"[\\x21\\x23-\\x7e\\x80-\\xff]*+\")(?=[ \t]*+(?:,|\\z))");

  static FileVersion of(BasicFileAttributes attributes, Instant now) {
    var modified = attributes.lastModifiedTime().toInstant();
    var opaqueTag = '"' + Long.toHexString(attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS)) + '-'
        + Long.toHexString(attributes.size()) + '"';
    return new FileVersion(opaqueTag, modified.isBefore(now.minus(MAX_CLOCK_STEP)),
        (modified.isAfter(now) ? now : modified).truncatedTo(ChronoUnit.SECONDS));
  }

  String entityTag() {
    return isStrong ? opaqueTag : "W/" + opaqueTag;
  }

  /**
   * Checks the conditions of a GET or HEAD in the order of RFC 9110, section 13.2.2. A condition on
   * a time is ignored beside a condition on tags, or if the time is malformed.
   *
   * @return 412 or 304 for the first condition that does not hold; 200 if all hold
   */
  int statusFor(HttpExchange exchange) {
    var ifMatch = exchange.header("If-Match");
    boolean isWanted = ifMatch.isPresent() ? isAmong(ifMatch.get(), true)
        : exchange.header("If-Unmodified-Since").flatMap(HttpDate::parse).filter(lastModified::isAfter).isEmpty();
    if (!isWanted) return 412;
    var ifNoneMatch = exchange.header("If-None-Match");
    boolean isKnown = ifNoneMatch.isPresent() ? isAmong(ifNoneMatch.get(), false)
        : exchange.header("If-Modified-Since").flatMap(HttpDate::parse).filter(since -> !lastModified.isAfter(since))
            .isPresent();
    return isKnown ? 304 : 200;
  }

  /** Returns whether one of the tags names this version. A strong comparison ignores weak tags. */
  private boolean isAmong(String tags, boolean isStrongComparison) {
    if (tags.equals("*")) return true;
    if (isStrongComparison && !isStrong) return false;
    return TAG.matcher(tags).results().anyMatch(
        tag -> tag.group(2).equals(opaqueTag) && !(isStrongComparison && tag.group(1) != null));
  }

  /**
   * Returns whether a part of this version may be sent. If-Range names the version of which the
   * client has another part.
   */
  boolean mayBeSentInParts(HttpExchange exchange) {
    var ifRange = exchange.header("If-Range");
    return ifRange.isEmpty() || isStrong
        && (ifRange.get().equals(opaqueTag) || HttpDate.parse(ifRange.get()).filter(lastModified::equals).isPresent());
  }
}
