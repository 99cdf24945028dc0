;; The world of made games: a room with furniture and things. The commands are ALFWorld's.
(define (domain made-household)
  (:requirements :adl :typing)
  (:types
    agent place item kind - object
    receptacle - place)
  (:predicates
    (at ?a - agent ?p - place)
    (in ?i - item ?r - receptacle)
    (carries ?a - agent ?i - item)
    (busy ?a - agent)                  ; carries something
    (openable ?r - receptacle)
    (opened ?r - receptacle)
    (narrow ?r - receptacle)           ; bulky things do not go in
    (washes ?r - receptacle)           ; a sink: only washable things go in
    (heats ?r - receptacle)
    (cools ?r - receptacle)
    (sort ?r - receptacle ?k - kind)
    (kind ?i - item ?k - kind)
    (portable ?i - item)
    (bulky ?i - item)
    (washable ?i - item)
    (heatable ?i - item)
    (coolable ?i - item)
    (sliceable ?i - item)
    (blade ?i - item)
    (lamp ?i - item)
    (clean ?i - item)
    (hot ?i - item)
    (cool ?i - item)
    (sliced ?i - item)
    (lit ?i - item)
    (inspected ?a - agent))            ; some command that only tells was given

  (:action look
    :parameters (?a - agent)
    :effect (inspected ?a))

  (:action inventory
    :parameters (?a - agent)
    :effect (inspected ?a))

  (:action help
    :parameters (?a - agent)
    :effect (inspected ?a))

  (:action examine-receptacle
    :parameters (?a - agent ?r - receptacle)
    :precondition (at ?a ?r)
    :effect (inspected ?a))

  (:action examine-item
    :parameters (?a - agent ?i - item)
    :precondition (carries ?a ?i)
    :effect (inspected ?a))

  (:action go
    :parameters (?a - agent ?from - place ?r - receptacle)
    :precondition (at ?a ?from)
    :effect (and (not (at ?a ?from)) (at ?a ?r)))

  (:action open
    :parameters (?a - agent ?r - receptacle)
    :precondition (and (openable ?r) (at ?a ?r) (not (opened ?r)))
    :effect (opened ?r))

  (:action close
    :parameters (?a - agent ?r - receptacle)
    :precondition (and (openable ?r) (at ?a ?r) (opened ?r))
    :effect (not (opened ?r)))

  (:action take
    :parameters (?a - agent ?i - item ?r - receptacle)
    :precondition (and (portable ?i) (at ?a ?r) (in ?i ?r) (not (busy ?a)) (imply (openable ?r) (opened ?r)))
    :effect (and (not (in ?i ?r)) (carries ?a ?i) (busy ?a)))

  (:action move
    :parameters (?a - agent ?i - item ?r - receptacle)
    :precondition (and
      (portable ?i) (at ?a ?r) (carries ?a ?i)
      (imply (openable ?r) (opened ?r))
      (imply (narrow ?r) (not (bulky ?i)))
      (imply (washes ?r) (washable ?i))
      (imply (heats ?r) (heatable ?i))
      (imply (cools ?r) (coolable ?i)))
    :effect (and (in ?i ?r) (not (carries ?a ?i)) (not (busy ?a))))

  (:action clean
    :parameters (?a - agent ?i - item ?r - receptacle)
    :precondition (and (washes ?r) (washable ?i) (at ?a ?r) (carries ?a ?i))
    :effect (clean ?i))

  (:action heat
    :parameters (?a - agent ?i - item ?r - receptacle)
    :precondition (and (heats ?r) (heatable ?i) (at ?a ?r) (carries ?a ?i))
    :effect (and (hot ?i) (not (cool ?i))))

  (:action cool
    :parameters (?a - agent ?i - item ?r - receptacle)
    :precondition (and (cools ?r) (coolable ?i) (at ?a ?r) (carries ?a ?i))
    :effect (and (cool ?i) (not (hot ?i))))

  ;; One command, two actions: each effect of an action is shown, whatever its condition.
  (:action switch-on
    :parameters (?a - agent ?i - item ?r - receptacle)
    :precondition (and (lamp ?i) (at ?a ?r) (in ?i ?r) (not (lit ?i)))
    :effect (lit ?i))

  (:action switch-off
    :parameters (?a - agent ?i - item ?r - receptacle)
    :precondition (and (lamp ?i) (at ?a ?r) (in ?i ?r) (lit ?i))
    :effect (not (lit ?i)))

  (:action slice
    :parameters (?a - agent ?i - item ?tool - item ?r - receptacle)
    :precondition (and
      (sliceable ?i) (blade ?tool) (carries ?a ?tool) (at ?a ?r) (in ?i ?r) (not (sliced ?i))
      (imply (openable ?r) (opened ?r)))
    :effect (sliced ?i)))
