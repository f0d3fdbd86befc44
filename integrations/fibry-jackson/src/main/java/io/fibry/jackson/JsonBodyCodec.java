package io.fibry.jackson;

import io.fibry.net.BodyCodec;
import io.fibry.net.HttpException;
import io.fibry.text.Lines;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.exc.ValueInstantiationException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes and reads bodies of HTTP as JSON, with a mapper of your own. Thread-safe.
 * {@snippet class="io.fibry.jackson.JavadocSnippetsTest" region="bodies"}
 *
 * <p>A client whose body is wrong gets the status 400 and learns the line, the column and the
 * field. The body is wrong, too, if the constructor of the object throws an
 * {@link IllegalArgumentException} or a {@link NullPointerException}. The client gets the text of
 * the former, and after the latter the names of the fields and elements that were null or missing.
 * If the mapper refuses unknown fields, the client also learns the first of them. A type that the
 * mapper cannot read at all is a failure of the server.
 *
 * <p>The settings of the mapper decide which bodies are wrong. Jackson ignores unknown fields by
 * default, and reads a missing number as zero, 1.5 as the {@code int} 1, the text "2" as a number,
 * 7 as a text, and a number as a constant of an enum. The mapper in the example refuses all these.
 */
public final class JsonBodyCodec implements BodyCodec {
  // parts of Jackson's texts that show the source, or name a class or an option
  private static final Pattern INTERNALS = Pattern.compile(
      "(?s) \\((start marker|for \\w+ starting|not recognized as|consider enabling).*"
          + "|, from `[^`]*`|[,:;(]?[^,:;(]*`.*");
  // reads null for an object whose constructor throws, and continues with its unknown fields
  private static final DeserializationProblemHandler WITHOUT_CONSTRUCTOR = new DeserializationProblemHandler() {
    @Override
    public Object handleInstantiationProblem(DeserializationContext context, Class<?> type, Object argument,
        Throwable failure) {
      return null;
    }
  };

  private final JsonMapper mapper;

  private JsonBodyCodec(JsonMapper mapper) {
    this.mapper = mapper;
  }

  /**
   * Makes a codec with the settings of a mapper.
   *
   * @param mapper the mapper, which reads and writes all bodies
   * @return a codec for {@code HttpRoutes.withBodyCodec}
   */
  public static JsonBodyCodec of(JsonMapper mapper) {
    return new JsonBodyCodec(Objects.requireNonNull(mapper, "mapper"));
  }

  @Override
  public String mediaType() {
    return "application/json";
  }

  @Override
  public <T> T read(byte[] body, Class<T> type) {
    if (body.length == 0) throw refusal("the body is empty; send " + kind(type) + " as JSON");
    try {
      T object = mapper.readValue(body, type);
      if (object == null) throw refusal("the body is null; send " + kind(type) + " as JSON");
      return object;
    } catch (JacksonException failure) {
      if (failure instanceof ValueInstantiationException && failure.getCause() instanceof NullPointerException cause)
        throw refusalOfNull(failure, cause, body, type);
      throw refusalOf(failure, body, type);
    }
  }

  /** Returns the refusal of a body for which a constructor has thrown a NullPointerException. */
  private HttpException refusalOfNull(JacksonException failure, NullPointerException cause, byte[] body,
      Class<?> type) {
    var finder = new NullFieldFinder();
    try {
      mapper.readerFor(type).withHandler(finder).readValue(body);
    } catch (JacksonException again) {} // the failure, whose null fields the finder has seen
    var names = finder.names();
    for (var name : names) if (isNamed(name, cause)) names = List.of(name);
    return refusal(failure, switch (names.size()) {
      case 0 -> subject(failure) + " lacks a field";
      case 1 -> subject(failure, names.getFirst())
          + (finder.isElement(names.getFirst()) ? " is null" : nullOrMissing(failure, names.getFirst(), body));
      default -> subject(failure) + " lacks one of the fields " + text(String.join(", ", names));
    } + unknownField(body, type));
  }

  /** Returns whether the exception is that of requireNonNull or of the JVM for this parameter. */
  private static boolean isNamed(String name, NullPointerException cause) {
    var message = Lines.message(cause);
    return message.equals(name) || message.endsWith("because \"" + name + "\" is null");
  }

  /** Returns the failure itself if the server is at fault. */
  private RuntimeException refusalOf(JacksonException failure, byte[] body, Class<?> type) {
    return switch (failure) {
      case InputCoercionException number -> refusal(failure, subject(failure) + " is out of range");
      case StreamReadException syntax -> refusal(failure, "malformed JSON: " + problem(syntax));
      case StreamConstraintsException limit -> refusal(failure, problem(limit));
      case UnrecognizedPropertyException unknown -> refusal(locationOf(pointer(unknown), body),
          subject(failure) + problem(unknown));
      case MismatchedInputException mismatch -> refusal(failure,
          subject(failure) + problem(mismatch, body, type));
      case ValueInstantiationException made when made.getCause() instanceof IllegalArgumentException refused -> refusal(
          failure, subject(failure) + " is refused: " + text(Lines.message(refused)) + unknownField(body, type));
      default -> failure;
    };
  }

  private String problem(MismatchedInputException mismatch, byte[] body, Class<?> type) {
    if (mismatch.getOriginalMessage().startsWith("Trailing token")) return " is followed by more JSON";
    var token = mismatch.getCurrentToken();
    if (token == JsonToken.VALUE_NULL) return " is null" + unknownField(body, type);
    if (token == null || token == JsonToken.END_OBJECT)
      return nullOrMissing(mismatch, "", body) + unknownField(body, type);
    var target = mismatch.getTargetType() == null ? type : mismatch.getTargetType();
    return " is not " + kind(target);
  }

  /**
   * Returns the problem of a field without a value: the body has null in it, or does not have it.
   *
   * @param field a field of the object with the problem; empty if the failure is of the field
   */
  private String nullOrMissing(JacksonException failure, String field, byte[] body) {
    var pointer = pointer(failure);
    return locationOf(field.isEmpty() ? pointer : pointer.appendProperty(field), body) == null ? " is missing"
        : " is null";
  }

  /**
   * Returns the problem of the first unknown field, which may be a missing field, misspelt. Returns
   * an empty text if there is none, or if the mapper ignores unknown fields. Jackson itself reports
   * such a field only after it has made the object.
   */
  private String unknownField(byte[] body, Class<?> type) {
    try {
      mapper.readerFor(type).without(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .without(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .without(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES).withHandler(WITHOUT_CONSTRUCTOR).readValue(body);
    } catch (UnrecognizedPropertyException unknown) {
      return "; " + subject(unknown) + problem(unknown);
    } catch (RuntimeException | AssertionError other) {} // another problem, or a user's code fails for null
    return "";
  }

  private static JsonPointer pointer(JacksonException failure) {
    var pointer = JsonPointer.empty();
    for (var step : failure.getPath())
      pointer = step.getPropertyName() == null ? pointer.appendIndex(step.getIndex())
          : pointer.appendProperty(step.getPropertyName());
    return pointer;
  }

  /**
   * Finds a field in the body. The exception for an unknown field has no location, because Jackson
   * reports the field when it has read the whole object. Returns null if the field is not found.
   */
  private TokenStreamLocation locationOf(JsonPointer pointer, byte[] body) {
    try (var parser = mapper.createParser(body)) {
      for (var token = parser.nextToken(); token != null; token = parser.nextToken())
        if (token == JsonToken.PROPERTY_NAME && parser.streamReadContext().pathAsPointer().equals(pointer))
          return parser.currentTokenLocation();
    } catch (JacksonException malformed) {} // after the object with the field
    return null;
  }

  private static String problem(UnrecognizedPropertyException unknown) {
    var known = unknown.getKnownPropertyIds();
    return " is unknown" + (known == null || known.isEmpty() ? ""
        : "; known are " + text(known.stream().filter(String.class::isInstance).map(String.class::cast).sorted()
            .collect(Collectors.joining(", "))));
  }

  /**
   * Returns the JSON that the client must send for a type. No class of the program is named. A name
   * of the JDK, such as UUID or Instant, is shown because it names a format.
   */
  private static String kind(Class<?> type) {
    if (Collection.class.isAssignableFrom(type) || type.isArray()) return "a list";
    if (CharSequence.class.isAssignableFrom(type)) return "a text";
    if (type == boolean.class || type == Boolean.class) return "true or false";
    if (type == double.class || type == float.class || type == Double.class || type == Float.class
        || type == BigDecimal.class)
      return "a number";
    if (type.isPrimitive() && type != char.class || Number.class.isAssignableFrom(type)) return "an integer";
    if (type.isEnum()) return "one of its values";
    boolean isOfJdk = type.isPrimitive() || type.getName().startsWith("java.") && !Map.class.isAssignableFrom(type)
        && type != Object.class;
    return isOfJdk ? "a valid " + type.getSimpleName() : "an object";
  }

  /** Returns the path of the field with the problem, such as {@code field lines[0].count}. */
  private static String subject(JacksonException failure) {
    return subject(failure, "");
  }

  /** Returns the path of a field of the object with the problem. */
  private static String subject(JacksonException failure, String field) {
    var path = new StringBuilder();
    for (var step : failure.getPath())
      if (step.getPropertyName() == null) path.append('[').append(step.getIndex()).append(']');
      else path.append(path.isEmpty() ? "" : ".").append(step.getPropertyName());
    if (!field.isEmpty()) path.append(path.isEmpty() ? "" : ".").append(field);
    return path.isEmpty() ? "the body" : "field " + text(path.toString());
  }

  private static HttpException refusal(JacksonException failure, String problem) {
    return refusal(failure.getLocation(), problem);
  }

  private static HttpException refusal(TokenStreamLocation location, String problem) {
    return refusal(location == null || location.getLineNr() < 1 ? problem
        : "line " + location.getLineNr() + ", column " + location.getColumnNr() + ": " + problem);
  }

  private static HttpException refusal(String problem) {
    return new HttpException(400, "400 Bad Request: " + problem);
  }

  /** Returns one short line, because the client has chosen a part of the text. */
  private static String text(String text) {
    return Lines.line(text);
  }

  /** Returns a text of Jackson without the names of its classes and options. */
  private static String problem(JacksonException failure) {
    return text(INTERNALS.matcher(failure.getOriginalMessage()).replaceAll("").replace("VALUE_STRING", "a string"));
  }

  @Override
  public byte[] write(Object object) {
    return mapper.writeValueAsBytes(object);
  }
}
