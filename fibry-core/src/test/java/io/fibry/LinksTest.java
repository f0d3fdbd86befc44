package io.fibry;

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
 * Every file and heading that the documents link to exists. Links to the outside are not followed.
 */
class LinksTest {
  private static final Pattern CODE = Pattern.compile("(?ms)^ *```.*?^ *```$|`[^`\n]*`");
  private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *```$");
  private static final Pattern LINK = Pattern.compile("\\]\\(<?([^)\\s>]*)>?[^)]*\\)|(?m)^\\[[^\\]]+\\]: *(\\S+)");
  private static final Pattern ELSEWHERE = Pattern.compile("[a-z][a-z+.-]*:.*");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*?) *#*$");

  @TempDir
  Path folder;

  @Test
  void everyLinkLeadsSomewhere() throws Exception {
    var documents = Repository.files(".md");

    assertTrue(documents.size() > 20, documents.toString());
    assertEquals(List.of(), broken(documents));
  }

  @Test
  void aLinkThatLeadsNowhereIsNamed() throws Exception {
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
        .map(link -> document + " -> " + link).toList(), broken(List.of(document)));
  }

  private static List<String> broken(List<Path> documents) throws IOException {
    var broken = new ArrayList<String>();
    for (var document : documents)
      for (var found : LINK.matcher(CODE.matcher(Files.readString(document)).replaceAll("")).results().toList()) {
        var link = found.group(1) != null ? found.group(1) : found.group(2);
        if (!ELSEWHERE.matcher(link).matches() && !leads(document, link)) broken.add(document + " -> " + link);
      }
    return broken;
  }

  private static boolean leads(Path document, String link) throws IOException {
    var parts = link.split("#", 2);
    if (parts[0].startsWith("/")) return false; // absolute paths fit one machine only
    var target = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
    if (!Files.exists(target)) return false;
    return parts.length == 1 || Files.isRegularFile(target) && anchors(target).contains(parts[1]);
  }

  /** Anchors of headings as GitHub makes them; repeated ones get a number. */
  private static Set<String> anchors(Path document) throws IOException {
    var anchors = new HashSet<String>();
    var times = new HashMap<String, Integer>();
    for (var heading : HEADING.matcher(FENCED.matcher(Files.readString(document)).replaceAll("")).results().toList()) {
      var anchor = heading.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
      int before = times.merge(anchor, 1, Integer::sum) - 1;
      anchors.add(before == 0 ? anchor : anchor + "-" + before);
    }
    return anchors;
  }
}
