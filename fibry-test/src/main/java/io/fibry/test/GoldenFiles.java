package io.fibry.test;

import io.fibry.codec.CodecException;
import io.fibry.codec.TypeCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Old bytes stay readable: a folder beside the tests has the schema of a codec, and samples of all
 * its types, also of those inside others. If a type has changed such that stored bytes can no
 * longer be read, or would lose a field when they are written again, the test fails before a
 * program does.
 * {@snippet class="io.fibry.test.GoldenTest" region="golden"}
 *
 * <p>Commit the folder. Delete a sample only when no store has values like it.
 */
public final class GoldenFiles {
  private static final String SCHEMA = "schema.txt";
  private static final Pattern SAMPLE = Pattern.compile(".*-v\\d+\\.[a-z]+"); // ends with the name of its format

  private GoldenFiles() {}

  /**
   * Reads all samples of a folder. At the first time, and when the schema has changed, it adds
   * samples of today, and fails once, so that a developer looks at them.
   *
   * @param codec of what is stored
   * @param folder in the sources of the tests
   * @throws AssertionError if a sample cannot be read, or some were added
   */
  public static void check(TypeCodec<?> codec, Path folder) {
    try {
      Files.createDirectories(folder);
      for (var sample : samples(folder)) checkReadable(codec, sample);
      var schema = folder.resolve(SCHEMA);
      String before = Files.exists(schema) ? Files.readString(schema) : "";
      var missing = missing(codec, folder);
      if (!before.equals(codec.schema()) || !missing.isEmpty()) throw changed(codec, folder, before, missing);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static List<Path> samples(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files.filter(file -> SAMPLE.matcher(file.getFileName().toString()).matches()).sorted().toList();
    }
  }

  private static void checkReadable(TypeCodec<?> codec, Path sample) throws IOException {
    var unknown = new LinkedHashSet<String>();
    try {
      codec.decode(Files.readAllBytes(sample), unknown::add);
    } catch (CodecException unreadable) {
      throw new AssertionError("stored bytes like " + sample + " can no longer be read: " + unreadable.getMessage()
          + "\nTell the " + codec + " what the old form means, with evolution.readOld(..), or take the change back.",
          unreadable);
    }
    if (!unknown.isEmpty()) throw new AssertionError("stored bytes like " + sample + " have " + unknown
        + ", which the types no longer have: an actor whose state has them would not store it again."
        + "\nTell the " + codec + " that they are gone, with evolution.ignoreRemoved(..), or take the change back.");
  }

  /** Samples of today that the folder has not, of those that the types can be read from. */
  private static Map<String, byte[]> missing(TypeCodec<?> codec, Path folder) throws IOException {
    var old = new ArrayList<byte[]>();
    for (var sample : samples(folder)) old.add(Files.readAllBytes(sample));
    var missing = new LinkedHashMap<>(codec.samples());
    missing.values()
        .removeIf(
            bytes -> old.stream().anyMatch(one -> Arrays.equals(one, bytes)) || refusal(codec, bytes).isPresent());
    return missing;
  }

  /** Why bytes of the right form are no value, such as by the constructor of a record. */
  private static Optional<String> refusal(TypeCodec<?> codec, byte[] bytes) {
    try {
      codec.decode(bytes);
      return Optional.empty();
    } catch (CodecException refused) {
      return Optional.of(String.valueOf(refused.getMessage()));
    }
  }

  private static AssertionError changed(TypeCodec<?> codec, Path folder, String before, Map<String, byte[]> missing)
      throws IOException {
    var added = new ArrayList<String>();
    for (var sample : missing.entrySet()) added.add(write(codec, folder, sample.getKey(), sample.getValue()));
    codec.samples().forEach((name, bytes) -> refusal(codec, bytes)
        .ifPresent(why -> added.add(name + " is not there, since it was refused: " + why)));
    Files.writeString(folder.resolve(SCHEMA), codec.schema());
    String what = before.isEmpty() ? "no samples yet"
        : before.equals(codec.schema()) ? "some samples that were missing" : "changed; old bytes can be read";
    return new AssertionError(
        "the types have " + what + ". Look at " + folder + ", and commit it: its " + SCHEMA + " is new, and " + added);
  }

  private static String write(TypeCodec<?> codec, Path folder, String name, byte[] bytes) throws IOException {
    int version = 1;
    while (Files.exists(folder.resolve(file(codec, name, version)))) version++;
    String file = file(codec, name, version);
    Files.write(folder.resolve(file), bytes);
    return file;
  }

  private static String file(TypeCodec<?> codec, String name, int version) {
    return name + "-v" + version + "." + codec.format().name();
  }
}
