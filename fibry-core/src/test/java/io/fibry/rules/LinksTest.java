package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that every file and heading exists that a document links to. Links to other sites are not
 * followed.
 */
class LinksTest {
  private static final Pattern CODE = Pattern.compile("(?ms)^ *```.*?^ *```$|`[^`\n]*`");
  private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *```$");
  private static final Pattern LINK = Pattern.compile("\\]\\(<?([^)\\s>]*)>?[^)]*\\)|(?m)^\\[[^\\]]+\\]: *(\\S+)");
  private static final Pattern EXTERNAL = Pattern.compile("[a-z][a-z+.-]*:.*");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*?) *#*$");

  @TempDir
  Path folder;

  @Test
  void everyLinkInDocumentsHasTarget() throws Exception {
    var documents = Repository.files(".md");

    assertTrue(documents.size() > 20, documents.toString());
    assertEquals(List.of(), brokenLinks(documents));
  }

  @Test
  void linkWithoutTargetIsReported() throws Exception {
    Files.writeString(folder.resolve("there.md"),
        "# What's *there*, and `how`\n## Twice\n## Twice\n```\n# no heading\n```\n");
    var document = Files.writeString(folder.resolve("document.md"),
        """
            # A document
            [a](there.md), [b](there.md#whats-there-and-how), [c](there.md#twice-1), [d](#a-document), [e](https://example.org/x#y), `[no](link)`
            [f](gone.md), [g](there.md#gone), [h](#gone), [i](there.md#no-heading), [j](/document.md)

            [k]: gone.txt
            """);

    assertEquals(Stream.of("gone.md", "there.md#gone", "#gone", "there.md#no-heading", "/document.md", "gone.txt")
        .map(link -> document + " -> " + link).toList(), brokenLinks(List.of(document)));
  }

  private static List<String> brokenLinks(List<Path> documents) throws IOException {
    var brokenLinks = new ArrayList<String>();
    for (var document : documents)
      for (var match : LINK.matcher(CODE.matcher(Files.readString(document)).replaceAll("")).results().toList()) {
        var link = match.group(1) != null ? match.group(1) : match.group(2);
        if (!EXTERNAL.matcher(link).matches() && !hasTarget(document, link)) brokenLinks.add(document + " -> " + link);
      }
    return brokenLinks;
  }

  private static boolean hasTarget(Path document, String link) throws IOException {
    var parts = link.split("#", 2);
    if (parts[0].startsWith("/")) return false; // an absolute path is right on one machine only
    var target = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
    if (!Files.exists(target)) return false;
    return parts.length == 1 || Files.isRegularFile(target) && anchors(target).contains(parts[1]);
  }

  /**
   * Returns the anchors of the headings, as GitHub creates them. Repeated headings get a number.
   */
  private static Set<String> anchors(Path document) throws IOException {
    var anchors = new HashSet<String>();
    var counts = new HashMap<String, Integer>();
    for (var heading : HEADING.matcher(FENCED.matcher(Files.readString(document)).replaceAll("")).results().toList()) {
      var anchor = heading.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
      int earlierCount = counts.merge(anchor, 1, Integer::sum) - 1;
      anchors.add(earlierCount == 0 ? anchor : anchor + "-" + earlierCount);
    }
    return anchors;
  }
}
