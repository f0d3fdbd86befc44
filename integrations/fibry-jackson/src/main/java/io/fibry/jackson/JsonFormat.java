package io.fibry.jackson;

import io.fibry.codec.Format;
import io.fibry.codec.FormatReader;
import io.fibry.codec.FormatWriter;
import java.lang.reflect.RecordComponent;
import java.util.Optional;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/** The JSON format, independent of the settings of a user's mapper. */
record JsonFormat(MappedTypes mappedTypes) implements Format {
  static final int MAX_DIGITS = 1_000; // the time to read a number is quadratic in its digits

  static final JsonFactory FACTORY = JsonFactory.builder()
      .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).maxNumberLength(MAX_DIGITS)
          .maxStringLength(MAX_BYTES).maxNameLength(MAX_BYTES).build())
      // if enabled, the keys of users' maps would fill a table that all parsers share
      .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES).build();

  @Override
  public String name() {
    return "json";
  }

  @Override
  public FormatWriter newWriter() {
    return new JsonWriter(mappedTypes);
  }

  @Override
  public FormatReader newReader(byte[] bytes) {
    return JsonReader.of(bytes, mappedTypes);
  }

  @Override
  public String nameOf(RecordComponent component) {
    return JacksonAnnotations.nameOf(component);
  }

  @Override
  public String nameOf(Enum<?> constant) {
    return JacksonAnnotations.nameOf(constant);
  }

  @Override
  public boolean hasAnyKey() {
    return false;
  }

  @Override
  public Optional<Object> example(Class<?> type) {
    return mappedTypes.find(type).map(MappedType::example);
  }
}
