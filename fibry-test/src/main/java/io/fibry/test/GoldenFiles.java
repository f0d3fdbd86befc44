package io.fibry.test;

import io.fibry.codec.CodecException;
import io.fibry.codec.DerivedCodec;
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
 * Tests that stored bytes stay readable. A folder beside the tests has the schema of a codec, and
 * samples of all its types, nested types included. If a type changes such that old bytes can no
 * longer be read, the test fails before a program does. It also fails if old bytes would lose a
 * field when they are written again.
 * {@snippet class="io.fibry.test.GoldenTest" region="golden"}
 *
 * <p>Commit the folder. Delete a sample only when no store contains values of its form.
 */
public final class GoldenFiles {
  private static final String SCHEMA = "schema.txt";
  private static final Pattern SAMPLE = Pattern.compile(".*-v\\d+\\.[a-z]+"); // ends with the name of its format

  private GoldenFiles() {}

  /**
   * Reads all samples of a folder. If the folder is new, the schema has changed or a sample is
   * missing, the method adds samples of the current types. It then fails once, so that a developer
   * checks the new files.
   *
   * @param codec the codec of the stored values
   * @param folder a folder in the sources of the tests
   * @throws AssertionError if a sample cannot be read, or samples were added
   */
  public static void check(DerivedCodec<?> codec, Path folder) {
    try {
      Files.createDirectories(folder);
      for (var sample : samples(folder)) checkReadable(codec, sample);
      var schema = folder.resolve(SCHEMA);
      String oldSchema = Files.exists(schema) ? Files.readString(schema) : "";
      var missingSamples = missingSamples(codec, folder);
      if (!oldSchema.equals(codec.schema()) || !missingSamples.isEmpty())
        throw addSamples(codec, folder, oldSchema, missingSamples);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static List<Path> samples(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files.filter(file -> SAMPLE.matcher(file.getFileName().toString()).matches()).sorted().toList();
    }
  }

  private static void checkReadable(DerivedCodec<?> codec, Path sample) throws IOException {
    var unknownFields = new LinkedHashSet<String>();
    try {
      codec.decode(Files.readAllBytes(sample), unknownFields::add);
    } catch (CodecException unreadable) {
      throw new AssertionError("stored bytes like " + sample + " can no longer be read: " + unreadable.getMessage()
          + "\nDescribe the old form to the " + codec + " with evolution.readOld(..), or revert the change.",
          unreadable);
    }
    if (!unknownFields.isEmpty()) throw new AssertionError("stored bytes like " + sample + " have " + unknownFields
        + ", which the types no longer have: an actor would lose them when it stores its state again."
        + "\nDeclare them as removed to the " + codec + " with evolution.ignoreRemoved(..), or revert the change.");
  }

  /** Returns the codec's samples that the codec can decode, and that the folder lacks. */
  private static Map<String, byte[]> missingSamples(DerivedCodec<?> codec, Path folder) throws IOException {
    var existingSamples = new ArrayList<byte[]>();
    for (var sample : samples(folder)) existingSamples.add(Files.readAllBytes(sample));
    var missingSamples = new LinkedHashMap<>(codec.samples());
    missingSamples.values()
        .removeIf(
            bytes -> existingSamples.stream().anyMatch(old -> Arrays.equals(old, bytes))
                || refusal(codec, bytes).isPresent());
    return missingSamples;
  }

  /**
   * Returns why the codec refuses a sample of its own, for example if a record's constructor
   * throws.
   */
  private static Optional<String> refusal(DerivedCodec<?> codec, byte[] bytes) {
    try {
      codec.decode(bytes);
      return Optional.empty();
    } catch (CodecException refused) {
      return Optional.of(String.valueOf(refused.getMessage()));
    }
  }

  /** Writes the missing samples and the schema. Returns the error to throw. */
  private static AssertionError addSamples(DerivedCodec<?> codec, Path folder, String oldSchema,
      Map<String, byte[]> missingSamples) throws IOException {
    var addedFiles = new ArrayList<String>();
    for (var sample : missingSamples.entrySet())
      addedFiles.add(write(codec, folder, sample.getKey(), sample.getValue()));
    codec.samples().forEach((name, bytes) -> refusal(codec, bytes)
        .ifPresent(reason -> addedFiles.add(name + " is missing, because the codec cannot decode it: " + reason)));
    Files.writeString(folder.resolve(SCHEMA), codec.schema());
    String change = oldSchema.isEmpty() ? "no samples yet"
        : oldSchema.equals(codec.schema()) ? "some samples that were missing" : "changed; old bytes can be read";
    return new AssertionError(
        "the types have " + change + ". Look at " + folder + ", and commit it: its " + SCHEMA + " is new, and "
            + addedFiles);
  }

  private static String write(DerivedCodec<?> codec, Path folder, String name, byte[] bytes) throws IOException {
    int version = 1;
    while (Files.exists(folder.resolve(file(codec, name, version)))) version++;
    String file = file(codec, name, version);
    Files.write(folder.resolve(file), bytes);
    return file;
  }

  private static String file(DerivedCodec<?> codec, String name, int version) {
    return name + "-v" + version + "." + codec.format().name();
  }
}
