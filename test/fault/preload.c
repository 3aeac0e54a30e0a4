/* An LD_PRELOAD library that counts the file calls a program makes under one directory and, at one of
 * them, kills or stops the program, or makes the call fail or come back short. test/helpers/fault.ts
 * compiles and drives it; what a fault must not break is said there and in invariants.ts, not here.
 *
 * FAULT_ROOT    directory, absolute and without symlinks: only calls on what lies in it (or is it) count
 * FAULT_LOG     file that gets a line per call before it, and one with its result after it
 * FAULT_AT      number of the call that gets FAULT_ACTION (the first is 1)
 * FAULT_ACTION  kill-before kill-after stop-before stop-after
 *               kill-short       a write moves half its bytes (or FAULT_BYTES), then SIGKILL
 *               short            a write moves half its bytes (libuv goes on with the rest by itself)
 *               short-seen       the same, and the next write to that file fails once: libuv then reports
 *                                the half to the program, which has to go on itself
 *               short-then-NAME  the same, and every later call that needs room fails
 *               short-read       a read brings half of what was asked for
 *               errno:NAME       that one call fails
 *               errno+:NAME      it and every later one fails
 *               full:NAME        it and every later one that needs room fails (a full disk, a quota)
 * FAULT_MARK    file that is created just before a stop
 * FAULT_PID     set by this library: children inherit it and so are not counted
 *
 * Descriptors are looked up in /proc/self/fd at each call instead of being tracked, so dup, fcntl and
 * inherited ones need no care. The library's own calls are plain system calls and are never counted.
 * Not seen: mmap (Node writes no file through it) and io_uring (refused with ENOSYS while counting). */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>

/* glibc's headers turn these into macros or give them asm names; the wrappers define the plain symbols. */
#undef FICLONE
#define FICLONE 0x40049409

enum { READS = 0, CHANGES = 1, ROOM = 2, DATA = 4, INPUT = 8 };
enum action { NONE, KILL_BEFORE, KILL_AFTER, KILL_SHORT, STOP_BEFORE, STOP_AFTER, SHORT, SHORT_SEEN, SHORT_READ, SHORT_FULL, ERRNO, ERRNO_ON, FULL };

static char root[PATH_MAX];
static size_t root_length;
static char log_path[PATH_MAX], mark_path[PATH_MAX];
static long at = -1, bytes_to_move = -1;
static enum action action = NONE;
static int injected = EIO;
static pid_t home = -1;
static atomic_long counter;
static atomic_int disk_full, refused_fd = -1;

static long (*real_syscall)(long, ...);

static void *real_of(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) {
    static const char text[] = "fault preload: a libc function is missing\n";
    (void)!write(2, text, sizeof text - 1);
    abort();
  }
  return found;
}
#define REAL(type, name, ...)                              \
  static type (*real)(__VA_ARGS__);                        \
  if (!real) real = (type(*)(__VA_ARGS__))real_of(#name)

/* Plain system calls, for the library's own needs. */
static long sys(long number, long a, long b, long c, long d) {
  if (!real_syscall) real_syscall = (long (*)(long, ...))real_of("syscall");
  return real_syscall(number, a, b, c, d);
}

static void append(const char *file, const char *text, size_t length) {
  long fd = sys(SYS_openat, AT_FDCWD, (long)file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  sys(SYS_write, fd, (long)text, (long)length, 0);
  sys(SYS_close, fd, 0, 0, 0);
}

static const struct { const char *name; int value; } errors[] = {
  { "ENOSPC", ENOSPC }, { "EIO", EIO }, { "EACCES", EACCES }, { "EROFS", EROFS }, { "EDQUOT", EDQUOT },
  { "EMFILE", EMFILE }, { "ENOENT", ENOENT }, { "EPERM", EPERM }, { "EINTR", EINTR }, { "EXDEV", EXDEV },
};

static int error_number(const char *name) {
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    if (!strcmp(errors[i].name, name)) return errors[i].value;
  return EIO;
}

__attribute__((constructor)) static void begin(void) {
  const char *where = getenv("FAULT_ROOT"), *what = getenv("FAULT_ACTION"), *value;
  char mine[32];
  real_syscall = (long (*)(long, ...))real_of("syscall");
  if (!where || where[0] != '/') return;
  snprintf(mine, sizeof mine, "%d", (int)getpid());
  if ((value = getenv("FAULT_PID")) && strcmp(value, mine)) return;
  setenv("FAULT_PID", mine, 1);
  /* Children that are handed a hand-made environment would lose FAULT_PID, so they must not load this. */
  unsetenv("LD_PRELOAD");
  snprintf(root, sizeof root, "%s", where);
  root_length = strlen(root);
  while (root_length > 1 && root[root_length - 1] == '/') root[--root_length] = 0;
  if ((value = getenv("FAULT_LOG"))) snprintf(log_path, sizeof log_path, "%s", value);
  if ((value = getenv("FAULT_MARK"))) snprintf(mark_path, sizeof mark_path, "%s", value);
  if ((value = getenv("FAULT_AT"))) at = atol(value);
  if ((value = getenv("FAULT_BYTES"))) bytes_to_move = atol(value);
  if (what) {
    if (!strcmp(what, "kill-before")) action = KILL_BEFORE;
    else if (!strcmp(what, "kill-after")) action = KILL_AFTER;
    else if (!strcmp(what, "kill-short")) action = KILL_SHORT;
    else if (!strcmp(what, "stop-before")) action = STOP_BEFORE;
    else if (!strcmp(what, "stop-after")) action = STOP_AFTER;
    else if (!strcmp(what, "short")) action = SHORT;
    else if (!strcmp(what, "short-seen")) { action = SHORT_SEEN; injected = ENOSPC; }
    else if (!strcmp(what, "short-read")) action = SHORT_READ;
    else if (!strncmp(what, "short-then-", 11)) { action = SHORT_FULL; injected = error_number(what + 11); }
    else if (!strncmp(what, "errno:", 6)) { action = ERRNO; injected = error_number(what + 6); }
    else if (!strncmp(what, "errno+:", 7)) { action = ERRNO_ON; injected = error_number(what + 7); }
    else if (!strncmp(what, "full:", 5)) { action = FULL; injected = error_number(what + 5); }
  }
  home = getpid();
}

/* ---- which calls count ---- */

static int inside(const char *path) {
  return !strncmp(path, root, root_length) && (path[root_length] == 0 || path[root_length] == '/');
}

/* The name the kernel has for a descriptor: it follows renames, and ends in " (deleted)" after an unlink. */
static int descriptor_path(int fd, char *out) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = sys(SYS_readlinkat, AT_FDCWD, (long)link, (long)out, PATH_MAX - 1);
  if (length <= 0) return 0;
  out[length] = 0;
  return out[0] == '/';
}

/* Makes `path` absolute and takes "." and ".." out by name. */
static int absolute_path(int dirfd, const char *path, char *out) {
  char joined[2 * PATH_MAX];
  if (!path) return 0;
  if (path[0] == '/') {
    if (strlen(path) >= PATH_MAX) return 0;
    snprintf(joined, sizeof joined, "%s", path);
  } else {
    char base[PATH_MAX];
    if (dirfd == AT_FDCWD) { if (sys(SYS_getcwd, (long)base, PATH_MAX, 0, 0) <= 0) return 0; }
    else if (!descriptor_path(dirfd, base)) return 0;
    if (snprintf(joined, sizeof joined, "%s/%s", base, path) >= PATH_MAX) return 0;
  }
  size_t length = 0;
  for (char *part = joined; *part;) {
    while (*part == '/') part++;
    size_t size = strcspn(part, "/");
    if (size == 2 && part[0] == '.' && part[1] == '.') { while (length && out[--length] != '/') { } }
    else if (size && !(size == 1 && part[0] == '.')) {
      if (length + size + 2 > PATH_MAX) return 0;
      out[length++] = '/';
      memcpy(out + length, part, size);
      length += size;
    }
    part += size;
  }
  if (!length) out[length++] = '/';
  out[length] = 0;
  return 1;
}

/* Absolute path, and whether it lies in the root; by name first, then with the parent's symlinks resolved. */
static int locate(int dirfd, const char *path, char *out) {
  if (!absolute_path(dirfd, path, out)) { out[0] = 0; return 0; }
  if (inside(out)) return 1;
  static char *(*real_realpath)(const char *, char *);
  if (!real_realpath) real_realpath = (char *(*)(const char *, char *))real_of("realpath");
  char parent[PATH_MAX], resolved[PATH_MAX], *slash;
  snprintf(parent, sizeof parent, "%s", out);
  slash = strrchr(parent, '/');
  if (slash == parent) return 0;
  *slash = 0;
  if (!real_realpath(parent, resolved) || !inside(resolved)) return 0;
  if (strlen(resolved) + strlen(slash + 1) + 2 > PATH_MAX) return 0;
  snprintf(out, PATH_MAX, "%.*s/%s", (int)strlen(resolved), resolved, slash + 1);
  return 1;
}

/* ---- one call ---- */

struct call { long index; int fires; int kind; int fd; };

static void printable(char *text) {
  for (; *text; text++) if ((unsigned char)*text < 32) *text = '?';
}
static const char *below(const char *path) {
  if (!inside(path)) return path;
  return path[root_length] ? path + root_length + 1 : ".";
}

static void note(const char *format, ...) {
  char line[3 * PATH_MAX];
  va_list arguments;
  if (!log_path[0]) return;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length > 0) append(log_path, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static void kill_self(void) {
  sys(SYS_kill, getpid(), SIGKILL, 0, 0);
  for (;;) sys(SYS_pause, 0, 0, 0, 0);
}
/* tgkill, not kill: this very thread must not run on while another one takes the signal. */
static void stop_self(long index) {
  char text[64];
  int length = snprintf(text, sizeof text, "%d %ld\n", (int)getpid(), index);
  if (mark_path[0]) append(mark_path, text, (size_t)length);
  sys(SYS_tgkill, getpid(), sys(SYS_gettid, 0, 0, 0, 0), SIGSTOP, 0);
}

/* Counts the call; 1 if it must fail with errno as set. `first` and `second` are absolute or empty. */
static int enter(struct call *call, const char *name, int kind, char *first, char *second, long bytes) {
  int saved = errno;
  call->index = atomic_fetch_add(&counter, 1) + 1;
  call->fires = call->index == at;
  call->kind = kind;
  printable(first);
  if (second) printable(second);
  note("%ld\t%s\t%s\t%s\t%s\t%ld\n", call->index, kind & CHANGES ? "w" : "r", name, below(first), second ? below(second) : "", bytes);
  int fails = 0;
  if (call->fires && action != NONE) note("!%ld\n", call->index);
  switch (action) {
    case KILL_BEFORE: if (call->fires) kill_self(); break;
    case STOP_BEFORE: if (call->fires) stop_self(call->index); break;
    case ERRNO: fails = call->fires; break;
    case ERRNO_ON: fails = at > 0 && call->index >= at; break;
    case FULL: fails = at > 0 && call->index >= at && (kind & ROOM); break;
    case SHORT_FULL: fails = (kind & ROOM) && atomic_load(&disk_full); break;
    case SHORT_SEEN:
      if (kind & DATA && call->fd >= 0 && atomic_load(&refused_fd) == call->fd) { atomic_store(&refused_fd, -1); fails = 1; }
      break;
    default: break;
  }
  errno = fails ? injected : saved;
  if (fails) note("=%ld\t-1\t%d\n", call->index, errno);
  return fails;
}

static void leave(struct call *call, long result) {
  int saved = errno;
  if (call->index) {
    note("=%ld\t%ld\t%d\n", call->index, result, result < 0 ? saved : 0);
    if (call->fires && (action == KILL_AFTER || action == KILL_SHORT)) kill_self();
    if (call->fires && action == STOP_AFTER) stop_self(call->index);
  }
  errno = saved;
}

/* How many of `wanted` bytes this call may move. */
static size_t allowed(struct call *call, size_t wanted) {
  if (!call->index || !call->fires || wanted < 2) return wanted;
  if (action == KILL_SHORT && (call->kind & DATA)) {
    return bytes_to_move >= 0 && (size_t)bytes_to_move < wanted ? (size_t)bytes_to_move : wanted / 2;
  }
  if (action == SHORT && (call->kind & DATA)) return wanted / 2;
  if (action == SHORT_SEEN && (call->kind & DATA)) { atomic_store(&refused_fd, call->fd); return wanted / 2; }
  if (action == SHORT_READ && (call->kind & INPUT)) return wanted / 2;
  if (action == SHORT_FULL && (call->kind & DATA)) { atomic_store(&disk_full, 1); return wanted / 2; }
  return wanted;
}

/* A fork or vfork child shares our memory or a copy of it, but is not the process that is tested. */
static int active(void) { return home != -1 && getpid() == home; }

static int enter_path(struct call *call, const char *name, int kind, int dirfd, const char *path) {
  char first[PATH_MAX];
  call->index = 0;
  call->fd = -1;
  int saved = errno;
  int ours = active() && locate(dirfd, path, first);
  errno = saved;
  return ours ? enter(call, name, kind, first, NULL, 0) : 0;
}
static int enter_paths(struct call *call, const char *name, int kind, int fd1, const char *path1, int fd2, const char *path2) {
  char first[PATH_MAX], second[PATH_MAX];
  call->index = 0;
  call->fd = -1;
  if (!active()) return 0;
  int saved = errno;
  int one = locate(fd1, path1, first), two = locate(fd2, path2, second);
  errno = saved;
  return one || two ? enter(call, name, kind, first, second, 0) : 0;
}
static int enter_fd(struct call *call, const char *name, int kind, int fd, long bytes) {
  char first[PATH_MAX];
  call->index = 0;
  call->fd = fd;
  if (!active()) return 0;
  int saved = errno;
  int ours = descriptor_path(fd, first) && inside(first);
  errno = saved;
  return ours ? enter(call, name, kind, first, NULL, bytes) : 0;
}

/* ---- the wrappers ---- */

#define ON_PATH(type, name, kind, dirfd, path, parameters, arguments)          \
  type name parameters {                                                       \
    static type(*real) parameters;                                             \
    if (!real) real = (type(*) parameters)real_of(#name);                      \
    struct call call;                                                          \
    if (enter_path(&call, #name, kind, dirfd, path)) return -1;                \
    type result = real arguments;                                              \
    leave(&call, (long)result);                                                \
    return result;                                                             \
  }
#define ON_PATHS(name, kind, fd1, path1, fd2, path2, parameters, arguments)    \
  int name parameters {                                                        \
    static int(*real) parameters;                                              \
    if (!real) real = (int(*) parameters)real_of(#name);                       \
    struct call call;                                                          \
    if (enter_paths(&call, #name, kind, fd1, path1, fd2, path2)) return -1;    \
    int result = real arguments;                                               \
    leave(&call, result);                                                      \
    return result;                                                             \
  }
#define ON_FD(type, name, kind, fd, parameters, arguments)                     \
  type name parameters {                                                       \
    static type(*real) parameters;                                             \
    if (!real) real = (type(*) parameters)real_of(#name);                      \
    struct call call;                                                          \
    if (enter_fd(&call, #name, kind, fd, 0)) return -1;                        \
    type result = real arguments;                                              \
    leave(&call, (long)result);                                                \
    return result;                                                             \
  }
#define HERE AT_FDCWD

static int open_kind(int flags) {
  return (flags & (O_CREAT | O_TRUNC) ? CHANGES : READS) | (flags & O_CREAT ? ROOM : 0);
}
#define OPEN_MODE                                                              \
  mode_t mode = 0;                                                             \
  if (flags & (O_CREAT | __O_TMPFILE)) {                                       \
    va_list rest;                                                              \
    va_start(rest, flags);                                                     \
    mode = va_arg(rest, mode_t);                                               \
    va_end(rest);                                                              \
  }
#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    REAL(int, name, const char *, int, ...);                                   \
    OPEN_MODE                                                                  \
    struct call call;                                                          \
    if (enter_path(&call, "open", open_kind(flags), HERE, path)) return -1;    \
    int result = real(path, flags, mode);                                      \
    leave(&call, result);                                                      \
    return result;                                                             \
  }
#define OPENAT(name)                                                           \
  int name(int dirfd, const char *path, int flags, ...) {                      \
    REAL(int, name, int, const char *, int, ...);                              \
    OPEN_MODE                                                                  \
    struct call call;                                                          \
    if (enter_path(&call, "open", open_kind(flags), dirfd, path)) return -1;   \
    int result = real(dirfd, path, flags, mode);                               \
    leave(&call, result);                                                      \
    return result;                                                             \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
ON_PATH(int, creat, CHANGES | ROOM, HERE, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(int, creat64, CHANGES | ROOM, HERE, path, (const char *path, mode_t mode), (path, mode))

#define FOPEN(name)                                                            \
  FILE *name(const char *path, const char *mode) {                             \
    REAL(FILE *, name, const char *, const char *);                            \
    struct call call;                                                          \
    if (enter_path(&call, "fopen", mode[0] == 'r' ? READS : CHANGES | ROOM, HERE, path)) return NULL; \
    FILE *result = real(path, mode);                                           \
    leave(&call, result ? 0 : -1);                                             \
    return result;                                                             \
  }
FOPEN(fopen)
FOPEN(fopen64)

/* The descriptor is closed even when the call is to fail: that is what Linux does. */
int close(int fd) {
  REAL(int, close, int);
  struct call call;
  if (enter_fd(&call, "close", READS, fd, 0)) {
    int saved = errno;
    real(fd);
    errno = saved;
    return -1;
  }
  int result = real(fd);
  leave(&call, result);
  return result;
}

#define MOVE(name, kind, offset_type)                                          \
  ssize_t name(int fd, PARAMETER_##kind buffer, size_t size, offset_type offset) { \
    REAL(ssize_t, name, int, PARAMETER_##kind, size_t, offset_type);           \
    struct call call;                                                          \
    if (enter_fd(&call, #name, KIND_##kind, fd, (long)size)) return -1;        \
    ssize_t result = real(fd, buffer, allowed(&call, size), offset);           \
    leave(&call, (long)result);                                                \
    return result;                                                             \
  }
#define PARAMETER_IN void *
#define PARAMETER_OUT const void *
#define KIND_IN (READS | INPUT)
#define KIND_OUT (CHANGES | ROOM | DATA)
MOVE(pread, IN, off_t)
MOVE(pread64, IN, off64_t)
MOVE(pwrite, OUT, off_t)
MOVE(pwrite64, OUT, off64_t)

ssize_t read(int fd, void *buffer, size_t size) {
  REAL(ssize_t, read, int, void *, size_t);
  struct call call;
  if (enter_fd(&call, "read", KIND_IN, fd, (long)size)) return -1;
  ssize_t result = real(fd, buffer, allowed(&call, size));
  leave(&call, (long)result);
  return result;
}
ssize_t write(int fd, const void *buffer, size_t size) {
  REAL(ssize_t, write, int, const void *, size_t);
  struct call call;
  if (enter_fd(&call, "write", KIND_OUT, fd, (long)size)) return -1;
  ssize_t result = real(fd, buffer, allowed(&call, size));
  leave(&call, (long)result);
  return result;
}

static size_t total(const struct iovec *parts, int count) {
  size_t sum = 0;
  for (int i = 0; i < count; i++) sum += parts[i].iov_len;
  return sum;
}
/* Shortens a list of buffers to `size` bytes; returns how many of them remain. */
static int cut(struct iovec *copy, const struct iovec *parts, int count, size_t size) {
  int used = 0;
  for (; used < count && size; used++) {
    copy[used] = parts[used];
    if (copy[used].iov_len > size) copy[used].iov_len = size;
    size -= copy[used].iov_len;
  }
  return used;
}
#define MOVE_PARTS(name, kind, extra, last)                                    \
  ssize_t name(int fd, const struct iovec *parts, int count extra) {           \
    static ssize_t (*real)(int, const struct iovec *, int extra);              \
    if (!real) real = (ssize_t(*)(int, const struct iovec *, int extra))real_of(#name); \
    struct call call;                                                          \
    if (enter_fd(&call, #name, KIND_##kind, fd, (long)total(parts, count))) return -1; \
    size_t whole = total(parts, count), size = allowed(&call, whole);          \
    struct iovec copy[IOV_MAX];                                                \
    int used = count;                                                          \
    if (size < whole && count <= IOV_MAX) { used = cut(copy, parts, count, size); parts = copy; } \
    ssize_t result = real(fd, parts, used last);                               \
    leave(&call, (long)result);                                                \
    return result;                                                             \
  }
#define COMMA ,
MOVE_PARTS(readv, IN, , )
MOVE_PARTS(writev, OUT, , )
MOVE_PARTS(preadv, IN, COMMA off_t offset, COMMA offset)
MOVE_PARTS(preadv64, IN, COMMA off64_t offset, COMMA offset)
MOVE_PARTS(pwritev, OUT, COMMA off_t offset, COMMA offset)
MOVE_PARTS(pwritev64, OUT, COMMA off64_t offset, COMMA offset)

#define SENDFILE(name, offset_type)                                            \
  ssize_t name(int to, int from, offset_type *offset, size_t size) {           \
    REAL(ssize_t, name, int, int, offset_type *, size_t);                      \
    struct call call;                                                          \
    if (enter_fd(&call, "sendfile", KIND_OUT, to, (long)size)) return -1;      \
    ssize_t result = real(to, from, offset, allowed(&call, size));             \
    leave(&call, (long)result);                                                \
    return result;                                                             \
  }
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags) {
  REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned);
  struct call call;
  if (enter_fd(&call, "copy_file_range", KIND_OUT, to, (long)size)) return -1;
  ssize_t result = real(from, from_at, to, to_at, allowed(&call, size), flags);
  leave(&call, (long)result);
  return result;
}

ON_FD(int, fsync, CHANGES, fd, (int fd), (fd))
ON_FD(int, fdatasync, CHANGES, fd, (int fd), (fd))
ON_FD(int, syncfs, CHANGES, fd, (int fd), (fd))
ON_FD(int, ftruncate, CHANGES, fd, (int fd, off_t size), (fd, size))
ON_FD(int, ftruncate64, CHANGES, fd, (int fd, off64_t size), (fd, size))
ON_PATH(int, truncate, CHANGES, HERE, path, (const char *path, off_t size), (path, size))
ON_PATH(int, truncate64, CHANGES, HERE, path, (const char *path, off64_t size), (path, size))
ON_FD(int, fallocate, CHANGES | ROOM, fd, (int fd, int mode, off_t from, off_t size), (fd, mode, from, size))
ON_FD(int, fallocate64, CHANGES | ROOM, fd, (int fd, int mode, off64_t from, off64_t size), (fd, mode, from, size))

ON_PATHS(rename, CHANGES, HERE, from, HERE, to, (const char *from, const char *to), (from, to))
ON_PATHS(renameat, CHANGES, d1, from, d2, to, (int d1, const char *from, int d2, const char *to), (d1, from, d2, to))
ON_PATHS(renameat2, CHANGES, d1, from, d2, to, (int d1, const char *from, int d2, const char *to, unsigned flags), (d1, from, d2, to, flags))
ON_PATHS(link, CHANGES | ROOM, HERE, from, HERE, to, (const char *from, const char *to), (from, to))
ON_PATHS(linkat, CHANGES | ROOM, d1, from, d2, to, (int d1, const char *from, int d2, const char *to, int flags), (d1, from, d2, to, flags))
ON_PATH(int, symlink, CHANGES | ROOM, HERE, path, (const char *target, const char *path), (target, path))
ON_PATH(int, symlinkat, CHANGES | ROOM, dirfd, path, (const char *target, int dirfd, const char *path), (target, dirfd, path))
ON_PATH(int, mkdir, CHANGES | ROOM, HERE, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(int, mkdirat, CHANGES | ROOM, dirfd, path, (int dirfd, const char *path, mode_t mode), (dirfd, path, mode))
ON_PATH(int, rmdir, CHANGES, HERE, path, (const char *path), (path))
ON_PATH(int, unlink, CHANGES, HERE, path, (const char *path), (path))
ON_PATH(int, unlinkat, CHANGES, dirfd, path, (int dirfd, const char *path, int flags), (dirfd, path, flags))
ON_PATH(int, remove, CHANGES, HERE, path, (const char *path), (path))

char *mkdtemp(char *template) {
  REAL(char *, mkdtemp, char *);
  struct call call;
  if (enter_path(&call, "mkdtemp", CHANGES | ROOM, HERE, template)) return NULL;
  char *result = real(template);
  leave(&call, result ? 0 : -1);
  return result;
}
#define MKSTEMP(name)                                                          \
  int name(char *template) {                                                   \
    REAL(int, name, char *);                                                   \
    struct call call;                                                          \
    if (enter_path(&call, "mkstemp", CHANGES | ROOM, HERE, template)) return -1; \
    int result = real(template);                                               \
    leave(&call, result);                                                      \
    return result;                                                             \
  }
MKSTEMP(mkstemp)
MKSTEMP(mkstemp64)

ON_PATH(int, chmod, CHANGES, HERE, path, (const char *path, mode_t mode), (path, mode))
ON_FD(int, fchmod, CHANGES, fd, (int fd, mode_t mode), (fd, mode))
ON_PATH(int, fchmodat, CHANGES, dirfd, path, (int dirfd, const char *path, mode_t mode, int flags), (dirfd, path, mode, flags))
ON_PATH(int, chown, CHANGES, HERE, path, (const char *path, uid_t uid, gid_t gid), (path, uid, gid))
ON_PATH(int, lchown, CHANGES, HERE, path, (const char *path, uid_t uid, gid_t gid), (path, uid, gid))
ON_FD(int, fchown, CHANGES, fd, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
ON_PATH(int, fchownat, CHANGES, dirfd, path, (int dirfd, const char *path, uid_t uid, gid_t gid, int flags), (dirfd, path, uid, gid, flags))
ON_PATH(int, utime, CHANGES, HERE, path, (const char *path, const struct utimbuf *times), (path, times))
ON_PATH(int, utimes, CHANGES, HERE, path, (const char *path, const struct timeval times[2]), (path, times))
ON_PATH(int, lutimes, CHANGES, HERE, path, (const char *path, const struct timeval times[2]), (path, times))
ON_FD(int, futimes, CHANGES, fd, (int fd, const struct timeval times[2]), (fd, times))
ON_FD(int, futimens, CHANGES, fd, (int fd, const struct timespec times[2]), (fd, times))
int utimensat(int dirfd, const char *path, const struct timespec times[2], int flags) {
  REAL(int, utimensat, int, const char *, const struct timespec *, int);
  struct call call;
  /* glibc declares the path as never NULL, yet futimens-like callers pass NULL. */
  const char *volatile given = path;
  if (given ? enter_path(&call, "utimensat", CHANGES, dirfd, given) : enter_fd(&call, "utimensat", CHANGES, dirfd, 0)) return -1;
  int result = real(dirfd, path, times, flags);
  leave(&call, result);
  return result;
}

ON_PATH(ssize_t, readlink, READS, HERE, path, (const char *path, char *out, size_t size), (path, out, size))
ON_PATH(ssize_t, readlinkat, READS, dirfd, path, (int dirfd, const char *path, char *out, size_t size), (dirfd, path, out, size))
ON_PATH(int, access, READS, HERE, path, (const char *path, int mode), (path, mode))
ON_PATH(int, faccessat, READS, dirfd, path, (int dirfd, const char *path, int mode, int flags), (dirfd, path, mode, flags))
ON_PATH(int, stat, READS, HERE, path, (const char *path, struct stat *out), (path, out))
ON_PATH(int, stat64, READS, HERE, path, (const char *path, struct stat64 *out), (path, out))
ON_PATH(int, lstat, READS, HERE, path, (const char *path, struct stat *out), (path, out))
ON_PATH(int, lstat64, READS, HERE, path, (const char *path, struct stat64 *out), (path, out))
ON_FD(int, fstat, READS, fd, (int fd, struct stat *out), (fd, out))
ON_FD(int, fstat64, READS, fd, (int fd, struct stat64 *out), (fd, out))
ON_PATH(int, __xstat, READS, HERE, path, (int version, const char *path, struct stat *out), (version, path, out))
ON_PATH(int, __xstat64, READS, HERE, path, (int version, const char *path, struct stat64 *out), (version, path, out))
ON_PATH(int, __lxstat, READS, HERE, path, (int version, const char *path, struct stat *out), (version, path, out))
ON_PATH(int, __lxstat64, READS, HERE, path, (int version, const char *path, struct stat64 *out), (version, path, out))
ON_FD(int, __fxstat, READS, fd, (int version, int fd, struct stat *out), (version, fd, out))
ON_FD(int, __fxstat64, READS, fd, (int version, int fd, struct stat64 *out), (version, fd, out))
ON_PATH(int, statfs, READS, HERE, path, (const char *path, struct statfs *out), (path, out))
ON_PATH(int, statfs64, READS, HERE, path, (const char *path, struct statfs64 *out), (path, out))
ON_FD(int, fstatfs, READS, fd, (int fd, struct statfs *out), (fd, out))
ON_FD(int, fstatfs64, READS, fd, (int fd, struct statfs64 *out), (fd, out))

static int stat_at(struct call *call, const char *name, int dirfd, const char *path) {
  return path && path[0] ? enter_path(call, name, READS, dirfd, path) : enter_fd(call, name, READS, dirfd, 0);
}
#define FSTATAT(name, type)                                                    \
  int name(int dirfd, const char *path, struct type *out, int flags) {         \
    REAL(int, name, int, const char *, struct type *, int);                    \
    struct call call;                                                          \
    if (stat_at(&call, "fstatat", dirfd, path)) return -1;                     \
    int result = real(dirfd, path, out, flags);                                \
    leave(&call, result);                                                      \
    return result;                                                             \
  }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)
int statx(int dirfd, const char *restrict path, int flags, unsigned mask, struct statx *restrict out) {
  REAL(int, statx, int, const char *, int, unsigned, struct statx *);
  struct call call;
  if (stat_at(&call, "statx", dirfd, path)) return -1;
  int result = real(dirfd, path, flags, mask, out);
  leave(&call, result);
  return result;
}

char *realpath(const char *restrict path, char *restrict out) {
  REAL(char *, realpath, const char *, char *);
  struct call call;
  if (enter_path(&call, "realpath", READS, HERE, path)) return NULL;
  char *result = real(path, out);
  leave(&call, result ? 0 : -1);
  return result;
}
DIR *opendir(const char *path) {
  REAL(DIR *, opendir, const char *);
  struct call call;
  if (enter_path(&call, "opendir", READS, HERE, path)) return NULL;
  DIR *result = real(path);
  leave(&call, result ? 0 : -1);
  return result;
}
#define READDIR(name, type)                                                    \
  struct type *name(DIR *directory) {                                          \
    REAL(struct type *, name, DIR *);                                          \
    struct call call;                                                          \
    if (enter_fd(&call, "readdir", READS, dirfd(directory), 0)) return NULL;   \
    struct type *result = real(directory);                                     \
    leave(&call, 0);                                                           \
    return result;                                                             \
  }
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)
int closedir(DIR *directory) {
  REAL(int, closedir, DIR *);
  struct call call;
  if (enter_fd(&call, "closedir", READS, dirfd(directory), 0)) {
    int saved = errno;
    real(directory);
    errno = saved;
    return -1;
  }
  int result = real(directory);
  leave(&call, result);
  return result;
}
#define SCANDIR(name, type)                                                    \
  int name(const char *path, struct type ***list, int (*filter)(const struct type *), \
           int (*compare)(const struct type **, const struct type **)) {       \
    REAL(int, name, const char *, struct type ***, int (*)(const struct type *), \
         int (*)(const struct type **, const struct type **));                 \
    struct call call;                                                          \
    if (enter_path(&call, "scandir", READS, HERE, path)) return -1;            \
    int result = real(path, list, filter, compare);                            \
    leave(&call, result);                                                      \
    return result;                                                             \
  }
SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

int ioctl(int fd, unsigned long request, ...) {
  REAL(int, ioctl, int, unsigned long, ...);
  va_list rest;
  va_start(rest, request);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  struct call call = { 0, 0, 0, -1 };
  if (request == FICLONE && enter_fd(&call, "ficlone", CHANGES | ROOM, fd, 0)) return -1;
  int result = real(fd, request, argument);
  leave(&call, result);
  return result;
}

/* libuv makes close, statx and copy_file_range through syscall(). */
long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
  long d = va_arg(rest, long), e = va_arg(rest, long), f = va_arg(rest, long);
  va_end(rest);
  struct call call = { 0, 0, 0, -1 };
  int fails = 0, counted = active();
  if (!real_syscall) real_syscall = (long (*)(long, ...))real_of("syscall");
  if (counted) switch (number) {
    case SYS_close:
      fails = enter_fd(&call, "close", READS, (int)a, 0);
      if (fails) { int saved = errno; real_syscall(SYS_close, a); errno = saved; }
      break;
#ifdef SYS_statx
    case SYS_statx: fails = stat_at(&call, "statx", (int)a, (const char *)b); break;
#endif
#ifdef SYS_copy_file_range
    case SYS_copy_file_range:
      fails = enter_fd(&call, "copy_file_range", KIND_OUT, (int)c, e);
      if (!fails) e = (long)allowed(&call, (size_t)e);
      break;
#endif
#ifdef SYS_renameat2
    case SYS_renameat2: fails = enter_paths(&call, "renameat2", CHANGES, (int)a, (const char *)b, (int)c, (const char *)d); break;
#endif
#ifdef SYS_openat2
    case SYS_openat2: fails = enter_path(&call, "open", open_kind((int)*(unsigned long long *)c), (int)a, (const char *)b); break;
#endif
#ifdef SYS_io_uring_setup
    case SYS_io_uring_setup: errno = ENOSYS; return -1;
#endif
    default: break;
  }
  if (fails) return -1;
  long result = real_syscall(number, a, b, c, d, e, f);
  leave(&call, result);
  return result;
}
